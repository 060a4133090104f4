# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "TypeError"}
def f(x, y):
    return x + y
