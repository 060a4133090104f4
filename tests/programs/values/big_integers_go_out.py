# zygo: {"job": {"mode": "call", "func": "f", "inputs": [100]}, "label": "OK", "value": [1267650600228229401496703205376]}
# 2 ** 100, exactly: never as a rounded float.
def f(x):
    return 2**x
