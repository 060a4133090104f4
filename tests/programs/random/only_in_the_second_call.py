# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 2], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value", "where": "[1]"}}
import random


def f(x):
    return x if x == 1 else random.random()
