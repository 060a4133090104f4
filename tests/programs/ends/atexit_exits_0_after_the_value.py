# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"], "value_absent": true}
# The value was computed, but the program ended before it was handed over.
import atexit
import os


def f(x):
    atexit.register(os._exit, 0)
    return x
