# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import threading


def burn():
    while True:
        pass


def f(x):
    threading.Thread(target=burn, daemon=True).start()
    burn()
