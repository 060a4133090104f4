# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "program.MemoryLimitExceeded"}
class MemoryLimitExceeded(Exception):
    pass


def f(x):
    raise MemoryLimitExceeded
