# zygo: {"job": {"limits": {"cpu_ms": 400}}, "label": "UnsafeCode", "mentions": ["socket"]}
import socket

try:
    socket.socket()  # <- crime
except OSError:
    pass
while True:
    pass
