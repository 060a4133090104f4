# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["fork|clone"]}
import os


def f(x):
    if os.fork() == 0:  # <- crime
        os._exit(0)
    return x
