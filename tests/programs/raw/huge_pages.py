# zygo: {"job": {}, "label": "OK", "stdout": "-1 -1\n"}
# From the host's reserve: charged to nobody, so there are none.
import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_long
print(libc.mmap(None, 2 << 20, 3, 0x40022, -1, 0), libc.mmap(None, 2 << 20, 3, 0x40021, -1, 0))
