# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [5], "determinism": {"runs": 2, "same": true}}
import asyncio


def f(x):
    return asyncio.run(asyncio.to_thread(abs, -5))
