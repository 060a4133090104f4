# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "tuple", "items": [1, [2, 3]]}]}
def f(x):
    return (x, [2, 3])
