# zygo: {"job": {"mode": "call", "func": "f", "inputs": [7], "limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
# One long C call: no Python signal handler would run before it ends.
def f(x):
    return x**100_000_000 % 10
