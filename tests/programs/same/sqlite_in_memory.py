# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [2], "determinism": {"runs": 2, "same": true}}
import sqlite3


def f(x):
    with sqlite3.connect(":memory:") as base:
        return base.execute("select 1 + 1").fetchone()[0]
