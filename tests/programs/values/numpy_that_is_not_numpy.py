# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult"}
import sys
import types

fake = types.ModuleType("numpy")


class Array:
    shape = property(lambda self: (object(), -1, 10 ** 30))
    dtype = property(lambda self: 1 / 0)

    def tolist(self):
        return [self]

    copy = tolist


class Scalar:
    def item(self):
        return self


class Type:
    kind = property(lambda self: "O" * 100)
    itemsize = property(lambda self: 1 << 100)


fake.ndarray, fake.generic, fake.dtype, fake.int64 = Array, Scalar, Type, int
sys.modules["numpy"] = fake


def f(x):
    return [Scalar(), Array()]
