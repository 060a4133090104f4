# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "LookupError", "exception": {"type": "LookupError", "message": "no such row", "traceback": "ZeroDivisionError[\\s\\S]*direct cause[\\s\\S]*LookupError"}}
def f(x):
    try:
        return x / 0
    except ZeroDivisionError as error:
        raise LookupError("no such row") from error
