# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 2000}}, "labels": ["OK", "InvalidResult", "TimeoutException"], "value_if_ok": [[1]]}
class Endless(list):
    def __iter__(self):
        while True:
            yield 1

    def __len__(self):
        return 1 << 40


def f(x):
    return Endless([1])
