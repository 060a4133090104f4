# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "UnsafeCode", "mentions": ["socket"]}
import random
import socket


def f(x):
    try:
        socket.socket()  # <- crime
    except OSError:
        pass
    return random.random()
