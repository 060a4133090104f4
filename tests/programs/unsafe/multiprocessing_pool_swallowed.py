# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"wall_ms": 3000}}, "label": "UnsafeCode"}
import multiprocessing


def f(x):
    try:
        with multiprocessing.Pool(2) as pool:
            pool.map(abs, [1, 2])
    except Exception:
        pass
    return x
