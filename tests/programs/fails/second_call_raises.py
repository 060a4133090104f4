# zygo: {"job": {"mode": "call", "func": "f", "inputs": [2, 0, 1]}, "label": "ZeroDivisionError", "exception": {"type": "ZeroDivisionError"}, "stdout": "2\n0\n"}
# The first exception ends the list of calls: 1 is never tried.
def f(x):
    print(x)
    return 1 / x
