# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Mute", "exception": {"type": "Mute"}}
class Mute(Exception):
    def __str__(self):
        raise RuntimeError("not telling")


def f(x):
    raise Mute
