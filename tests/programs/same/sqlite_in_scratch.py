# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [1], "determinism": {"runs": 2, "same": true}}
import sqlite3


def f(x):
    with sqlite3.connect("base.db") as base:
        base.execute("create table t (a)")
        base.execute("insert into t values (?)", (x,))
        base.commit()
        return base.execute("select a from t").fetchone()[0]
