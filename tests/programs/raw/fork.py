# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["fork|clone"]}
# No audit event, no wrapper: the bare system call. It fails, and the program goes on.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    return libc.syscall(57)
