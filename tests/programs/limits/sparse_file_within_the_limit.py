# zygo: {"job": {"limits": {"disk_mb": 1}}, "labels": ["OK", "DiskLimitExceeded"]}
# A terabyte of nothing takes no room; where sizes are limited file by file it is refused.
import os

with open("sparse", "wb") as file:
    file.truncate(1 << 40)
print(os.stat("sparse").st_blocks)
