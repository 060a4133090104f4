# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["kcmp"]}
# No audit event, no wrapper: the bare system call. It fails, and the program goes on.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    return libc.syscall(312, 1, 1, 0, 0, 0)
