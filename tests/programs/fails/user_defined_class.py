# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "GridTooSmall", "exception": {"type": "GridTooSmall", "message": "1 row"}}
class GridTooSmall(Exception):
    pass


def f(x):
    raise GridTooSmall(f"{x} row")
