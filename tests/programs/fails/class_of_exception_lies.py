# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Liar", "exception": {"type": "Liar"}}
class Liar(Exception):
    __class__ = property(lambda self: SystemExit)
    code = 0


def f(x):
    raise Liar
