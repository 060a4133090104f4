# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 3}}, "label": "NonDeterministicCode", "determinism": {"same": false}}
import random


def f(x):
    return random.getrandbits(64)
