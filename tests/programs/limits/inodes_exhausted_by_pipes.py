# zygo: {"job": {"limits": {"files": 200}}, "label": "DiskLimitExceeded", "detail": {"limit": "files"}}
import os

for number in range(10_000):
    os.mkfifo(f"pipe {number}")
