# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
def f(x):
    return sum(range(10**13))
