# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [[1, 2, 3]], "determinism": {"runs": 2, "same": true}}
from concurrent.futures import ThreadPoolExecutor


def f(x):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(abs, [-1, -2, -3]))
