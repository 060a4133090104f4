# zygo: {"job": {"mode": "call", "func": "f", "inputs": [41]}, "label": "OK", "value": [41]}
class Liar(int):
    def __eq__(self, other):
        return True

    def __index__(self):
        return 42

    __int__ = __index__
    __hash__ = int.__hash__

    def bit_length(self):
        return 1 / 0


def f(x):
    return Liar(x)
