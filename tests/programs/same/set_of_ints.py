# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "determinism": {"runs": 2, "same": true}}
def f(x):
    return list({5, 3, 1, 200, 9})
