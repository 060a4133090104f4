# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["kexec_load"]}
# No audit event, no wrapper: the bare system call. It fails, and the program goes on.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    return libc.syscall(246, 0, 0, None, 0)
