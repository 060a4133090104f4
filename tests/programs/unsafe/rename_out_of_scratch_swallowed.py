# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["/usr/zygo_was_here"]}
import os


def f(x):
    open("mine", "w").close()
    try:
        os.rename("mine", "/usr/zygo_was_here")  # <- crime
    except OSError:
        pass
    return x
