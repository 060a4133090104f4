# zygo: {"job": {"limits": {"memory_mb": 96}}, "label": "UnsafeCode", "mentions": ["socket"]}
import socket

try:
    socket.socket()  # <- crime
except OSError:
    pass
keep = []
while True:
    keep.append(b"\xff" * (1 << 20))
