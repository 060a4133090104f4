# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["UnsafeCode", "PermissionError", "ProcessLookupError"]}
import resource


def f(x):
    resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))
    return x
