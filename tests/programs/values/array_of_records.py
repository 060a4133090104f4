# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1]}, "labels": ["OK", "InvalidResult"]}
import numpy


def f(x):
    return numpy.zeros(2, [("\x1b[2J", "i4"), ("nested", [("f", "f8")], (3,))])
