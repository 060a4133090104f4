# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["process_vm_readv"]}
# No audit event, no wrapper: the bare system call. It fails, and the program goes on.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    return libc.syscall(310, 1, None, 0, None, 0, 0)
