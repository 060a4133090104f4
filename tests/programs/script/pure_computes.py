# zygo: {"job": {"policy": {"profile": "pure"}, "mode": "call", "func": "f", "inputs": [5]}, "label": "OK", "value": [120]}
import math


def f(x):
    return math.factorial(x)
