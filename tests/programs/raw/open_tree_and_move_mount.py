# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["open_tree"]}
import ctypes

libc = ctypes.CDLL(None)
tree = libc.syscall(428, -100, b"/usr", 1)
libc.syscall(429, tree, b"", -100, b"/tmp", 4)
