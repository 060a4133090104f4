# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"], "value_absent": true}
# A message that never ends gives a thread the time to end everything.
import os
import threading
import time


class Slow(Exception):
    def __str__(self):
        time.sleep(5)
        return "slow"


def f(x):
    threading.Timer(0.05, os._exit, (0,)).start()
    raise Slow
