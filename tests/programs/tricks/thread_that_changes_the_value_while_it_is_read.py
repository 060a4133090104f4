# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 3000}}, "labels": ["OK", "InvalidResult", "TimeoutException"]}
import sys
import threading

shared = [[i] for i in range(200_000)]


def churn():
    while True:
        shared.append([0])
        del shared[0:100]
        shared.insert(0, {})


def f(x):
    sys.setswitchinterval(1e-6)
    threading.Thread(target=churn, daemon=True).start()
    return shared
