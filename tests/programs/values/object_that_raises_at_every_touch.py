# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["Touchy"]}
class Touchy:
    def __getattribute__(self, name):
        raise SystemExit(0)

    __eq__ = __hash__ = __bool__ = __repr__ = __reduce_ex__ = __getattribute__


def f(x):
    return [Touchy()]
