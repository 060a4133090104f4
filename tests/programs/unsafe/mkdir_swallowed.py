# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["/var/zygo_dir"]}
import os


def f(x):
    try:
        os.makedirs("/var/zygo_dir")
    except OSError:
        pass
    return x
