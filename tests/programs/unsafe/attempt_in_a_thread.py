# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["socket"]}
import socket
import threading


def work():
    try:
        socket.socket()  # <- crime
    except OSError:
        pass


def f(x):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return x
