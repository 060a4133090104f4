# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 300}}, "label": "TimeoutException", "detail": {"limit": "cpu"}, "value_absent": true}
class Endless:
    def __del__(self):
        while True:
            pass


def f(x):
    Endless()
    return x
