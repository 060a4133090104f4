# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [1], "determinism": {"runs": 2, "same": true}}
import uuid


# libuuid tries its daemon on a socket, Python tries ifconfig where it has no libuuid: innocent.
def f(x):
    return uuid.uuid1().version
