# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 128}}, "label": "OK", "value": [67108864]}
def f(x):
    return len(b"\xff" * (64 << 20))
