# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"]}
import ctypes


def f(x):
    ctypes.CDLL(None).syscall(231, 0)
