# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["vmsplice"]}
import ctypes
import os

ctypes.CDLL(None).syscall(278, os.pipe()[1], None, 0, 8)
