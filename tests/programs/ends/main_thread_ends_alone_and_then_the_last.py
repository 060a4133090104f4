# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"], "value_absent": true}
import ctypes
import threading


def f(x):
    libc = ctypes.CDLL(None)
    threading.Thread(target=libc.syscall, args=(60, 0)).start()
    libc.syscall(60, 0)
