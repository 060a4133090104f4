# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "UnsafeCode", "mentions": ["socket"]}
import socket

socket.socket()  # <- crime
