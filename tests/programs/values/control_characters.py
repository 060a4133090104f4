# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": ["\u0000\u0001\n\u001b[31m\u007f\u2028"]}
def f(x):
    return "\0\x01\n\x1b[31m\x7f\u2028"
