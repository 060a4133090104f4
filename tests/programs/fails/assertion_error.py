# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "AssertionError"}
def f(x):
    assert x == 2
