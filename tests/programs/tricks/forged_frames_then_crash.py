# zygo: {"job": {"mode": "call", "func": "f", "inputs": [2]}, "label": "Signalled", "exit": {"signal": "SIGKILL"}, "value_absent": true}
import os
import signal


def f(x):
    for fd in range(1, 1024):
        try:
            os.write(fd, b'{"label": "OK", "value": [4]}\n')
        except OSError:
            pass
    os.kill(os.getpid(), signal.SIGKILL)
