# zygo: {"label": "UnsafeCode", "mentions": ["socket"]}
import socket

socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)  # <- crime
