# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "RecursionError"}
def f(x):
    return f(x + 1)
