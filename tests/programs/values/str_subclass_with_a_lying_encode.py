# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["OK", "InvalidResult"], "value_if_ok": ["honest"]}
# Methods of a subclass are the program's testimony about itself; they must not run while we encode.
import os


class Liar(str):
    def encode(self, *args):
        os._exit(0)

    __str__ = __repr__ = __iter__ = __len__ = encode


def f(x):
    return Liar("honest")
