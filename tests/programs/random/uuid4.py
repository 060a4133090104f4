# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
import uuid


def f(x):
    return str(uuid.uuid4())
