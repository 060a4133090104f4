# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [3], "determinism": {"runs": 2, "same": true}}
import asyncio


def f(x):
    async def add(a, b):
        await asyncio.sleep(0)
        return a + b

    return asyncio.run(add(x, 2))
