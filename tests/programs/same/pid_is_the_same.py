# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "determinism": {"runs": 2, "same": true}}
import os


def f(x):
    return os.getpid()
