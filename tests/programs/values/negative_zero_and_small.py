# zygo: {"job": {"mode": "call", "func": "f", "inputs": [0]}, "label": "OK", "value": [[-0.0, 5e-324, 0.1, 1.7976931348623157e308]]}
def f(x):
    return [-0.0, 5e-324, 0.1, 1.7976931348623157e308]
