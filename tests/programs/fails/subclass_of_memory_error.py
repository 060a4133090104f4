# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "TooGreedy"}
class TooGreedy(MemoryError):
    pass


def f(x):
    raise TooGreedy
