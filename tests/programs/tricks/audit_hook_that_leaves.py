# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "value_absent": true}
import os
import sys


def f(x):
    sys.addaudithook(lambda event, _: os._exit(0) if event == "os.kill" else None)
    try:
        os.fork()
    except OSError:
        pass
    os.kill(os.getpid(), 0)
