# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"pids": 8}}, "labels": ["ProcessLimitExceeded", "OK"]}
# A pool that makes do with fewer threads: the contract leaves open whether the refusal labels it.
import threading


def f(x):
    never = threading.Event()
    for _ in range(100):
        try:
            threading.Thread(target=never.wait, daemon=True).start()
        except RuntimeError:
            return x
