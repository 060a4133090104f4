# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [1], "determinism": {"runs": 2, "same": true}}
import random
import sys


# stderr is not compared: it may hold times and addresses.
def f(x):
    print(random.random(), file=sys.stderr)
    return x
