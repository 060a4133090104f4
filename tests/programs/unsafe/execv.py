# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["exec"]}
import os


def f(x):
    os.execv("/bin/true", ["true"])  # <- crime
