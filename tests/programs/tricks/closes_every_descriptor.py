# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["OK", "NonZeroExit", "InvalidResult"], "value_if_ok": [1]}
# It may lose its own value that way; it cannot gain another label than its own kind of failure.
import os


def f(x):
    os.closerange(0, 1 << 20)
    return x
