# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["shmget"]}
import ctypes

ctypes.CDLL(None).shmget(0x5A59, 4096, 0o1666)
