# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["Widget"]}
class Widget:
    pass


def f(x):
    return [1, Widget()]
