# zygo: {"job": {"limits": {"files": 200}}, "label": "DiskLimitExceeded", "detail": {"limit": "files"}}
import os

open("f", "w").close()
for number in range(10_000):
    os.link("f", f"link {number}")
