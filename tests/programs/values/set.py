# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "set", "items": [1]}]}
def f(x):
    return {x}
