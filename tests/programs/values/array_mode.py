# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "array": true, "inputs": [[[1, 2], [3, 4]], [[5]]]}, "label": "OK", "value": [[[3, 1], [4, 2]], [[5]]]}
import numpy as np


def f(grid):
    assert isinstance(grid, np.ndarray) and grid.ndim == 2 and grid.dtype.kind == "i"
    return np.rot90(grid, -1)
