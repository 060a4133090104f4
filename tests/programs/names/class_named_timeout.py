# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "program.TimeoutException"}
class TimeoutException(Exception):
    pass


def f(x):
    raise TimeoutException
