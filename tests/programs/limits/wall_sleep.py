# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}, "exit": {"signal": "SIGKILL"}}
import time


def f(x):
    time.sleep(60)
