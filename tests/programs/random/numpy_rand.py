# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
import numpy as np


def f(x):
    return np.random.rand(3).tolist()
