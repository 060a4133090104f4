# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"a": 1}]}
class Liar(dict):
    def items(self):
        while True:
            yield "b", 2

    def __iter__(self):
        raise SystemExit(0)

    def __getitem__(self, key):
        return 3

    __len__ = lambda self: 10 ** 9
    keys = values = items


def f(x):
    return Liar(a=1)
