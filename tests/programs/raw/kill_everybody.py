# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["UnsafeCode", "PermissionError", "ProcessLookupError", "Signalled"]}
import os
import signal


def f(x):
    os.kill(-1, signal.SIGKILL)
    return x
