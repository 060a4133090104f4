# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 128}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
import numpy as np


def f(x):
    return int(np.ones((512 << 20,), dtype=np.uint8).sum())
