# zygo: {"job": {"limits": {"memory_mb": 48}, "policy": {"profile": "subprocess"}}, "labels": ["MemoryLimitExceeded", "DiskLimitExceeded"]}
# Without a memory cgroup each such file is bounded one by one, as files are.
import mmap
import os

fd = os.memfd_create("hidden")
os.ftruncate(fd, 1 << 30)
with mmap.mmap(fd, 1 << 30) as view:
    for page in range(0, 1 << 30, 4096):
        view[page] = 1
