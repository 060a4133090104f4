# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "policy": {"profile": "subprocess"}}, "label": "NonZeroExit", "mentions": ["ended before returning"], "value_absent": true}
import os
import time


def f(x):
    if os.fork() != 0:
        os._exit(0)
    time.sleep(5)
    return 42
