# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import threading


def f(x):
    threading.Event().wait()
