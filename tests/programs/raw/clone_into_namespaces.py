# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "UnsafeCode", "mentions": ["clone"]}
import ctypes

for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00002000):
    assert ctypes.CDLL(None).syscall(56, flag | 17, 0, 0, 0, 0) == -1
