# zygo: {"job": {"mode": "call", "func": "f", "inputs": [{"$type": "tuple", "items": [1]}, {"$type": "set", "items": [1]}, {"$type": "bytes", "data": "AP8="}, {"$type": "complex", "real": 1, "imag": -2}, {"$type": "float", "value": "-inf"}]}, "label": "OK", "value": ["(1,)", "{1}", "b'\\x00\\xff'", "(1-2j)", "-inf"]}
# What results use, inputs may use: a value can be sent back as it came.
def f(x):
    return repr(x)
