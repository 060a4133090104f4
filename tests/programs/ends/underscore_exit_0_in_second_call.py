# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 2]}, "label": "NonZeroExit", "mentions": ["ended before returning"]}
import os


def f(x):
    if x == 2:
        os._exit(0)
    return x
