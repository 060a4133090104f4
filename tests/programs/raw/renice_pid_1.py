# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["UnsafeCode", "PermissionError", "ProcessLookupError"]}
import os


def f(x):
    os.setpriority(os.PRIO_PROCESS, 1, 19)
    return x
