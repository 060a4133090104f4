# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "determinism": {"runs": 2, "same": true}}
import numpy as np


def f(x):
    np.random.seed(7)
    legacy = np.random.randint(0, 1000)
    modern = np.random.default_rng(7).integers(0, 1000)
    return [int(legacy), int(modern)]
