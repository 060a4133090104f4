# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "program.BadJob"}
class BadJob(Exception):
    pass


def f(x):
    raise BadJob
