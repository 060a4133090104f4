# zygo: {"job": {"limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
[0] * (1 << 58)
