# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["UnsafeCode", "PermissionError", "ProcessLookupError"]}
# The contract leaves open whether a refused signal is a crime; pid 1 survives it, as the next job shows.
import os
import signal


def f(x):
    os.kill(1, signal.SIGKILL)
    return x
