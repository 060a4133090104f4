# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"]}
import sys


def f(x):
    sys.exit(0)
