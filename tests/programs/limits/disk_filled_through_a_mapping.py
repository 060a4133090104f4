# zygo: {"job": {"limits": {"disk_mb": 2}}, "labels": ["DiskLimitExceeded", "Signalled"]}
import mmap

with open("f", "w+b") as file:
    file.truncate(64 << 20)
    with mmap.mmap(file.fileno(), 64 << 20) as view:
        for page in range(0, 64 << 20, 4096):
            view[page] = 1
