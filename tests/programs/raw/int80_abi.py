# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "policy": {"profile": "subprocess"}}, "labels": ["UnsafeCode", "Signalled", "PermissionError", "OSError", "OK"], "value_if_ok": [-1]}
# getpid (20) through the 32-bit door, from a page of our own machine code. Where the mapping is refused, or
# the kernel has no such door, the program ends otherwise; it never gets a pid.
import ctypes
import mmap

CODE = b"\xb8\x14\x00\x00\x00\xcd\x80\x3d\x00\x00\x00\x00\x7d\x06\xb8\xff\xff\xff\xff\xc3\xc3"


def f(x):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    entry = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(entry)()
