# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [true], "determinism": {"runs": 2, "same": true}}
import inspect
import string


def f(x):
    return "capwords" in inspect.getsource(string)
