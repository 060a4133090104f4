# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [["a", "b", "c"]], "determinism": {"runs": 2, "same": true}}
def f(x):
    return sorted({"b", "a", "c"})
