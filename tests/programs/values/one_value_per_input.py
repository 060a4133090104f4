# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 2, 3]}, "label": "OK", "value": [1, 4, 9]}
def f(x):
    return x * x
