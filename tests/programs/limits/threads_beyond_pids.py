# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"pids": 8}}, "label": "ProcessLimitExceeded", "detail": {"limit": "pids"}}
import threading


def f(x):
    never = threading.Event()
    for _ in range(100):
        threading.Thread(target=never.wait, daemon=True).start()
    return x
