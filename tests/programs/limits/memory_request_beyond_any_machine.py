# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
# The interpreter itself raises MemoryError here, and nobody catches it.
def f(x):
    return bytearray(1 << 60)
