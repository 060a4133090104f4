# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
import sys


def f(x):
    sys.addaudithook(lambda *_: 1 / 0)
    return x
