# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["UnsafeCode", "OK"], "value_if_ok": [-1]}
# getpid through the x32 numbers: foreign, and refused even where the kernel lacks it.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    return libc.syscall(0x40000000 | 39)
