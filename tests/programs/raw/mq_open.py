# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["mq_open"]}
import ctypes
import os

ctypes.CDLL(None).syscall(240, b"q", os.O_CREAT | os.O_RDWR, 0o666, None)
