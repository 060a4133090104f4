# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 2]}, "label": "InvalidResult"}
def f(x):
    return x if x == 1 else f
