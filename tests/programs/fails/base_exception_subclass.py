# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Abandon"}
class Abandon(BaseException):
    pass


def f(x):
    raise Abandon
