# zygo: {"job": {}, "label_not": ["OK", "SandboxError"]}
import ctypes

libc = ctypes.CDLL(None)
for number in (600, 1000, 2 ** 30 - 1, 2 ** 31 - 1, -2):
    assert libc.syscall(number, 0, 0, 0, 0, 0, 0) == -1
