# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "array": true, "inputs": [[[1, 2]], [[1, 2]], [[1, 2]]]}, "label": "OK", "value": [[[0, 3]], [[0, 3]], [[0, 3]]]}
# What one call did to its argument is not seen by the next, and what it returned does not change later.
KEPT = []


def f(grid):
    for old in KEPT:
        old[:] = 9
    KEPT.append(grid)
    grid[0, 0] = 0
    grid[0, 1] += 1
    return grid.copy()
