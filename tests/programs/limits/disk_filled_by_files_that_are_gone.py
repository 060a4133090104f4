# zygo: {"job": {"limits": {"disk_mb": 2}}, "label": "DiskLimitExceeded"}
import os

held = []
while True:
    file = open("f", "wb")
    os.unlink("f")
    file.write(b"x" * 300_000)
    file.flush()
    held.append(file)
