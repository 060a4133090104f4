# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "StopIteration", "exception": {"type": "StopIteration"}}
def f(x):
    return next(iter([]))
