# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "ValueError"}
def f(x):
    raise ValueError("\ud800")
