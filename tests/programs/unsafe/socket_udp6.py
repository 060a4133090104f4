# zygo: {"label": "UnsafeCode", "mentions": ["socket"]}
import socket

socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)  # <- crime
