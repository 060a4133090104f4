# zygo: {"job": {"limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
# Shared anonymous pages are shmem, charged but nobody's RSS limit.
import mmap

keep = []
while True:
    area = mmap.mmap(-1, 8 << 20)
    for offset in range(0, 8 << 20, 4096):
        area[offset] = 1
    keep.append(area)
