# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "detail": {"code": 5}, "value_absent": true}
import atexit
import os


def f(x):
    atexit.register(os._exit, 5)
    return x
