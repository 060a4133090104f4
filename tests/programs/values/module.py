# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["module"]}
import math


def f(x):
    return math
