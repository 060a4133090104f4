# zygo: {"job": {"template": "python-numpy", "mode": "call", "func": "f", "array": true, "inputs": [[[1, 2]]]}, "label": "OK", "value": [[[2, 1], [2, 1]]]}
# Lists of numpy integers are what such programs return all day.
def f(grid):
    return [[grid[0, 1], grid[0, 0]], list(grid[0][::-1])]
