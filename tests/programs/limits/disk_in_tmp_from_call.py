# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"disk_mb": 4, "memory_mb": 256}}, "label": "DiskLimitExceeded", "detail": {"limit": "disk"}}
def f(x):
    with open("/tmp/big", "wb") as file:
        file.write(bytes(32 << 20))
