# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": ["Linux"], "determinism": {"runs": 2, "same": true}}
import platform


# platform.system() reads uname and starts nothing.
def f(x):
    return platform.system()
