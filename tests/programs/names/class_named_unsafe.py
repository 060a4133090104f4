# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "program.UnsafeCode"}
class UnsafeCode(Exception):
    pass


def f(x):
    raise UnsafeCode
