# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult"}
import numpy


def f(x):
    array = numpy.empty((), object)
    array[()] = array
    return array
