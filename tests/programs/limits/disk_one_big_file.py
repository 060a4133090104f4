# zygo: {"job": {"limits": {"disk_mb": 4, "memory_mb": 256}}, "label": "DiskLimitExceeded", "detail": {"limit": "disk"}}
with open("big", "wb") as file:
    for _ in range(64):
        file.write(bytes(1 << 20))
