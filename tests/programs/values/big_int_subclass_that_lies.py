# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1267650600228229401496703205376]}
class Liar(int):
    def bit_length(self):
        return 1

    def to_bytes(self, *args, **kwargs):
        return b"\x07"


def f(x):
    return Liar(2 ** 100)
