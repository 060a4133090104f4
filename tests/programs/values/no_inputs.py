# zygo: {"job": {"mode": "call", "func": "f", "inputs": []}, "label": "OK", "value": []}
def f(x):
    return x
