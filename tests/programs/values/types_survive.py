# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 1.0, true, "1", null, [1], {"a": 1}]}, "label": "OK", "value": ["int", "float", "bool", "str", "NoneType", "list", "dict"]}
def f(x):
    return type(x).__name__
