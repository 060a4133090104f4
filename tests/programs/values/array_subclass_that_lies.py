# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "ndarray", "dtype": "int64", "shape": [2], "data": [1, 2]}]}
import numpy


class Liar(numpy.ndarray):
    shape = property(lambda self: (10 ** 9,))
    dtype = property(lambda self: 1 / 0)

    def tolist(self):
        while True:
            pass

    item = copy = __array__ = tolist


def f(x):
    return numpy.array([1, 2]).view(Liar)
