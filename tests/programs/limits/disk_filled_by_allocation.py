# zygo: {"job": {"limits": {"disk_mb": 2}}, "label": "DiskLimitExceeded"}
import os

with open("f", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, 64 << 20)
