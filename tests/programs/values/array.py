# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "ndarray", "dtype": "int64", "shape": [2, 2], "data": [[1, 2], [3, 4]]}]}
import numpy as np


def f(x):
    return np.array([[1, 2], [3, 4]])
