# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "ExceptionGroup"}
def f(x):
    raise ExceptionGroup("several", [ValueError("a"), TypeError("b")])
