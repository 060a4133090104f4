# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "array": true, "inputs": [[[1, 2]], [[0, 0]]]}, "label": "OK", "value": [[[0.5, 1.0]], [[false, false]]]}
def f(grid):
    return grid / 2 if grid.any() else grid.astype(bool)
