# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "program.OK"}
class OK(Exception):
    pass


def f(x):
    raise OK
