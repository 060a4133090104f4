# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
while True:
    pass


def f(x):
    return x
