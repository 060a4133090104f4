# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [[[1], [1], [1]]]}
def f(x):
    row = [x]
    return [row] * 3
