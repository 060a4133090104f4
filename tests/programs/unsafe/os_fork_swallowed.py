# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["fork|clone"]}
import os


def f(x):
    try:
        os.fork()  # <- crime
    except OSError:
        pass
    return x
