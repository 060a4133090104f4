# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
# The kernel writes to these addresses when the process dies.
import ctypes

libc = ctypes.CDLL(None)


def f(x):
    libc.syscall(218, ctypes.c_ulong(0x1000))
    libc.syscall(273, ctypes.c_ulong(0x1000), 24)
    return x
