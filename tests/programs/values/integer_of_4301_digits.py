# zygo: {"job": {"mode": "call", "func": "f", "inputs": [0]}, "label": "InvalidResult"}
def f(x):
    return 10 ** 4300
