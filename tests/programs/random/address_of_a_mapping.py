# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
import ctypes
import mmap


def f(x):
    area = mmap.mmap(-1, 4096)
    return ctypes.addressof(ctypes.c_char.from_buffer(area))
