# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["Liar"]}
class Liar:
    __class__ = list

    def __iter__(self):
        return iter([1])

    def __len__(self):
        return 1

    def __reduce__(self):
        raise SystemExit(0)


def f(x):
    return Liar()
