# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "policy": {"profile": "subprocess"}}, "label": "Signalled", "exit": {"signal": "SIGILL"}, "value_absent": true}
import ctypes
import mmap


def f(x):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\x0f\x0b")  # ud2
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
