# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 64}}, "label": "InvalidResult", "mentions": ["larger than"]}
import numpy


def f(x):
    return numpy.broadcast_to(numpy.int8(1), (10 ** 6, 10 ** 6))
