# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [38]}
# glibc asks for clone3 with every thread and falls back on ENOSYS: no crime.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    libc.syscall(435, None, 0)
    return ctypes.get_errno()
