# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
def f(x):
    return len(b"\xff" * (400 << 20))
