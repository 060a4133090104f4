# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value", "where": "[0][3][1]"}}
import random


def f(x):
    return [[0, 0], [0, 0], [0, 0], [0, random.random()], [random.random(), 0]]
