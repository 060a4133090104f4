# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["exec"]}
import os


def f(x):
    try:
        os.execv("/usr/bin/python3", ["python3", "-c", "print(1)"])  # <- crime
    except OSError:
        pass
    return x
