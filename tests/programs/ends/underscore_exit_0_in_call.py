# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"], "value_absent": true}
import os


def f(x):
    os._exit(0)
