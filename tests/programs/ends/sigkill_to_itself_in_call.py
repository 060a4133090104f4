# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Signalled", "exit": {"signal": "SIGKILL"}, "value_absent": true}
import os
import signal


def f(x):
    os.kill(os.getpid(), signal.SIGKILL)
