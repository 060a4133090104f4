# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"]}
import os
import threading


def f(x):
    thread = threading.Thread(target=os._exit, args=(0,))
    thread.start()
    thread.join()
