# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult"}
import numpy as np


def f(x):
    return np.array([object(), f], dtype=object)
