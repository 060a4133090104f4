# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label_not": ["OK", "SandboxError", "TimeoutException"], "value_absent": true}
# Everything the encoder may ask of numpy is there and answers with nonsense.
import sys
import types


class Answer:
    def __init__(self, value):
        self.value = value

    def __get__(self, instance, owner=None):
        return self.value


class Array:
    shape = Answer((object(), -1, 10 ** 30))
    dtype = Answer(None)
    tolist = Answer(lambda *_: [Array()])
    copy = tolist


class Scalar:
    item = Answer(lambda *_: Scalar())


class Type:
    kind = Answer(7)
    itemsize = Answer("x")

    def __init__(self, *_):
        pass


fake = types.ModuleType("numpy")
fake.ndarray, fake.generic, fake.dtype, fake.int64 = Array, Scalar, Type, int
sys.modules["numpy"] = fake


def f(x):
    return [Array()]
