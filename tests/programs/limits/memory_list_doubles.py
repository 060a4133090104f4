# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory", "limit_bytes": 100663296}}
def f(x):
    items = [x]
    while True:
        items += items
