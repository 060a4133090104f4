# zygo: {"label": "UnsafeCode", "mentions": ["socket"]}
import os
import socket

try:
    socket.socket()  # <- crime
except OSError:
    os._exit(0)
