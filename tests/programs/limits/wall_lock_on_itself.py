# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"wall_ms": 300}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import threading


def f(x):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
