# zygo: {"job": {"limits": {"file_mb": 1}}, "label": "DiskLimitExceeded", "detail": {"limit": "file", "limit_bytes": 1048576}}
with open("big", "wb") as file:
    for _ in range(64):
        file.write(bytes(1 << 16))
