# zygo: {"label": "UnsafeCode", "mentions": ["socket"]}
import atexit
import socket


def late():
    try:
        socket.socket()  # <- crime
    except OSError:
        pass


atexit.register(late)
