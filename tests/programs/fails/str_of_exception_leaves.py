# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Leaver", "exception": {"type": "Leaver", "message": "unprintable"}}
import sys


class Leaver(Exception):
    def __str__(self):
        sys.exit(0)


def f(x):
    raise Leaver
