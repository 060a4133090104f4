# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "value_absent": true}
import atexit


def flood():
    while True:
        print("x" * 1000)


def f(x):
    atexit.register(flood)
    return x
