# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["deep|depth|nest"]}
def f(x):
    for _ in range(100_000):
        x = [x]
    return x
