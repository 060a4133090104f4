# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["4300 digits"]}
def f(x):
    return 1 << 3_400_000
