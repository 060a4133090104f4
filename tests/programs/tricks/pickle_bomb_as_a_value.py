# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult"}
# An object that would run code where it is unpickled: nobody ever unpickles it.
import os


class Bomb:
    def __reduce__(self):
        return os.system, ("true",)


def f(x):
    return Bomb()
