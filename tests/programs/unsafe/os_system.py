# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["system|clone|fork|exec"]}
import os


def f(x):
    return os.system("true")  # <- crime
