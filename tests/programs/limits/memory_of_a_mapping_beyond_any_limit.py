# zygo: {"job": {"limits": {"memory_mb": 64}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
# A mapping that is refused raises OSError.
import mmap

mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
