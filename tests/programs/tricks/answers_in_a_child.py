# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "policy": {"profile": "subprocess"}}, "label": "NonZeroExit", "detail": {"code": 9}, "value_absent": true}
# The child returns a value as if it were the job; the job itself ends badly.
import os


def f(x):
    if os.fork() == 0:
        return 42
    os.wait()
    os._exit(9)
