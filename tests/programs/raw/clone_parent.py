# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "UnsafeCode", "mentions": ["clone"]}
# A sibling would be the cell's first process's own child.
import ctypes

ctypes.CDLL(None).syscall(56, 0x00008000 | 17, 0, 0, 0, 0)
