# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"disk_mb": 4}}, "label": "OK", "value": [2097152]}
import os


def f(x):
    with open("half", "wb") as file:
        file.write(bytes(2 << 20))
    return os.path.getsize("half")
