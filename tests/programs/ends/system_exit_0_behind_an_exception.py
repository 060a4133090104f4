# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"], "value_absent": true}
import sys


def f(x):
    try:
        raise ValueError("the real reason")
    finally:
        sys.exit(0)
