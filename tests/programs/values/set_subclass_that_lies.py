# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "set", "items": [1]}]}
class Liar(set):
    def __iter__(self):
        raise SystemExit(0)

    __len__ = lambda self: 10 ** 9


def f(x):
    return Liar([1])
