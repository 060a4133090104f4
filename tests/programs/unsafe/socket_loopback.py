# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["socket|connect"]}
import socket


def f(x):
    with socket.create_connection(("127.0.0.1", 9), timeout=1) as sock:  # <- crime
        sock.send(b"x")
    return x
