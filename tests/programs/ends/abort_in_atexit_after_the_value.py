# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Signalled", "exit": {"signal": "SIGABRT"}, "value_absent": true}
import atexit
import os


def f(x):
    atexit.register(os.abort)
    return x
