# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["function"]}
def f(x):
    return f
