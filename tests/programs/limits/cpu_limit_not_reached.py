# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 5000}}, "label": "OK", "value": [1]}
import time


def f(x):
    while time.process_time() < 0.05:
        pass
    return x
