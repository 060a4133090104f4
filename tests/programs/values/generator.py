# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["generator"]}
def f(x):
    return (n for n in range(3))
