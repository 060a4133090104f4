# zygo: {"job": {}, "label_not": ["OK", "UnsafeCode", "Signalled", "SandboxError"]}
# Where libffi makes code for callbacks it gets no memory for it; where it has a table of them, this program does not try.
import ctypes

try:
    ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)
except MemoryError:
    raise
raise RuntimeError("callbacks need no code here")
