# zygo: {"job": {"mode": "call", "func": "f", "inputs": [0]}, "label": "OK"}
def f(x):
    return [10 ** 4300 - 1, 1 - 10 ** 4300]
