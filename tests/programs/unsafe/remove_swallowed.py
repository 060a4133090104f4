# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["/usr/share/common-licenses/Artistic"]}
import os


def f(x):
    try:
        os.remove("/usr/share/common-licenses/Artistic")  # <- crime
    except Exception:
        pass
    return x
