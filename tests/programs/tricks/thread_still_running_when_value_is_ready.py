# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"wall_ms": 5000}}, "label": "OK", "value": [1]}
import threading
import time


def spin():
    while True:
        time.sleep(0.001)


def f(x):
    threading.Thread(target=spin, daemon=True).start()
    return x
