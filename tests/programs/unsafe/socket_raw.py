# zygo: {"label": "UnsafeCode", "mentions": ["socket"]}
import socket

socket.socket(socket.AF_PACKET, socket.SOCK_RAW)  # <- crime
