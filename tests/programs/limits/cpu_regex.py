# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import re


def f(x):
    return bool(re.match(r"(a+)+$", "a" * 64 + "b"))
