# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["Signalled", "OK"], "value_if_ok": [null]}
# Where the kernel seals code, all at once is refused; what holds its own objects is where the job borrows it from its cell.
import ctypes

ARENA = 1 << 18


def f(x):
    libc = ctypes.CDLL(None)
    libc.munmap.argtypes = [ctypes.c_ulong, ctypes.c_ulong]
    libc.munmap(0x10000, (1 << 47) - 0x20000)
    for start in range(0, 4 * ARENA, ARENA):
        libc.munmap((id(libc) & -ARENA) + start, ARENA)
        libc.munmap((id(f) & -ARENA) - start, ARENA)
