# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "exit": {"code": 3}}
import sys


def f(x):
    sys.exit(3)
