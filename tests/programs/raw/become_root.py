# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["UnsafeCode", "PermissionError", "OSError"]}
import os


def f(x):
    os.setuid(0)
    return x
