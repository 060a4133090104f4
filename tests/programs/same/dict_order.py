# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [["z", "a", "m"]], "determinism": {"runs": 2, "same": true}}
def f(x):
    return list({"z": 1, "a": 2, "m": 3})
