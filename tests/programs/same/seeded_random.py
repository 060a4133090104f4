# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [331], "determinism": {"runs": 2, "same": true}}
import random


def f(x):
    random.seed(7)
    return random.randrange(1000)
