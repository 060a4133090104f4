# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
import tempfile


def f(x):
    with tempfile.NamedTemporaryFile() as file:
        return file.name
