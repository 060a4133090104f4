# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode"}
import os


def f(x):
    os.symlink("/usr", "link")
    try:
        open("link/zygo_was_here", "w")  # <- crime
    except OSError:
        pass
    return x
