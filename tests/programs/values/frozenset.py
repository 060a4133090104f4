# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "frozenset", "items": [1]}]}
def f(x):
    return frozenset([x])
