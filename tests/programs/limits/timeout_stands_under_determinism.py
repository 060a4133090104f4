# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 400}, "determinism": {"runs": 2}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import random


def f(x):
    while True:
        random.random()
