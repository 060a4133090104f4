# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "array": true, "inputs": [[[1]], [[2]]]}, "label": "OK", "value": [[[1]], [[2]]]}
# The argument itself is returned, and overwritten during the next call: what counts is the value at its return.
KEPT = []


def f(grid):
    for old in KEPT:
        old[:] = 9
    KEPT.append(grid)
    return grid
