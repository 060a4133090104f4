# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "determinism": {"runs": 2, "same": true}}
import numpy as np


def f(x):
    a = np.arange(10_000).reshape(100, 100)
    return int((a @ a.T).trace())
