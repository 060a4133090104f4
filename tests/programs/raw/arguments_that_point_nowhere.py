# zygo: {"job": {}, "label_not": ["SandboxError", "TimeoutException", "Signalled"]}
# What the supervisor reads of a call's arguments may be anywhere, or gone.
import ctypes

libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_long
for number in (83, 87, 82, 88, 86, 90, 92, 133, 257, 258, 263, 264, 265, 266, 280, 41, 42, 49, 59, 165, 272, 321):
    for address in (0, 1, 0xFFF, 2 ** 47 - 1, 2 ** 47 - 4096, 2 ** 63, 2 ** 64 - 1, 2 ** 64 - 4096):
        pointer = ctypes.c_ulong(address)
        libc.syscall(number, pointer, pointer, pointer, pointer, pointer, pointer)
