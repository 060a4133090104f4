# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
# A hook of the program's own may break the program, not the verdict of a well-ended call.
import sys


def f(x):
    sys.addaudithook(lambda event, arguments: None)
    return x
