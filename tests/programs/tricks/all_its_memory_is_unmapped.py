# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Signalled", "exit": {"signal": "SIGSEGV"}, "value_absent": true}
import ctypes


def f(x):
    libc = ctypes.CDLL(None)
    libc.munmap.argtypes = [ctypes.c_ulong, ctypes.c_ulong]
    libc.munmap(0x10000, (1 << 47) - 0x20000)
