# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "MemoryError"}
class MemoryError(Exception):
    pass


def f(x):
    raise MemoryError("not the interpreter's")
