# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 2]}, "label": "OK", "value": [[1], [1, 2]]}
SEEN = []


def f(x):
    SEEN.append(x)
    return SEEN
