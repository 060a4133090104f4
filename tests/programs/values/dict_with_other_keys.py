# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "dict", "items": [[1, "a"], [{"$type": "tuple", "items": [2, 3]}, "b"]]}]}
def f(x):
    return {1: "a", (2, 3): "b"}
