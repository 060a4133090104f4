# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["Popen|clone|fork|exec"]}
import os


def f(x):
    try:
        os.popen("id").read()  # <- crime
    except OSError:
        pass
    return x
