# zygo: {"job": {"mode": "call", "func": "f", "calls": [{"args": [1, 2]}, {"args": [1], "kwargs": {"b": 5}}, {"kwargs": {"a": 7, "b": 1}}, {"args": [3]}]}, "label": "OK", "value": [3, 6, 8, 13]}
def f(a, b=10):
    return a + b
