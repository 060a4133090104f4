# zygo: {"job": {"mode": "call", "func": "f", "inputs": [5]}, "label": "OK", "value": [5]}
import builtins


def f(x):
    vars(builtins).clear()
    return x
