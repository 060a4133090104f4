# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import numpy as np


def f(x):
    grid = np.zeros((30, 30), dtype=int)
    while (grid == 0).any():
        grid = np.rot90(grid)
    return 1
