# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "KeyError"}
# Of two that fail the function's own failure counts.
import threading


def f(x):
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    raise KeyError("mine")
