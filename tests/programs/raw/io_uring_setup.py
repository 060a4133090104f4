# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["UnsafeCode", "OK"], "value_if_ok": [-1]}
# Libraries probe for it, so the contract lets it be merely absent; it must not work.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def f(x):
    parameters = ctypes.create_string_buffer(120)
    return libc.syscall(425, 1, parameters)
