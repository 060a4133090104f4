# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 128}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
# numpy raises a private subclass of MemoryError from C.
import numpy as np


def f(x):
    return int(np.zeros((1 << 23, 1 << 23), dtype=np.int64).sum())
