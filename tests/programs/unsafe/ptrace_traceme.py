# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["ptrace"]}
import ctypes


def f(x):
    return ctypes.CDLL(None).ptrace(0, 0, 0, 0)
