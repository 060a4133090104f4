# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
def f(x):
    keep = []
    while True:
        try:
            keep.append(b"\xff" * (8 << 20))
        except MemoryError:
            pass
