# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "KeyboardInterrupt"}
def f(x):
    raise KeyboardInterrupt
