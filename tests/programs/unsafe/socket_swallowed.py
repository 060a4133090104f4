# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["socket|connect"]}
import socket


def f(x):
    try:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)  # <- crime
        sock.connect(("127.0.0.1", 9))
    except OSError:
        pass
    return x
