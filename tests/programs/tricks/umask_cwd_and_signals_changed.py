# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
import os
import signal


def f(x):
    os.umask(0o777)
    os.chdir("/")
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.environ["LEFTOVER"] = "from the job before"
    return x
