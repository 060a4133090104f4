# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "complex", "real": 1.0, "imag": -2.0}]}
def f(x):
    return complex(x, -2)
