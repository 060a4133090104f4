# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK"}
# A program may restrict itself further; the cell must work on.
import ctypes
import struct

libc = ctypes.CDLL(None)


def f(x):
    ruleset = libc.syscall(444, struct.pack("=Q", 0x7), 8, 0)
    return [libc.syscall(446, ruleset, 0) for _ in range(20)][-1] * 0
