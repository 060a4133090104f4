# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NameError"}
WIDTH = HEIGHT * 2  # <- crime


def f(x):
    return x
