# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["msgget"]}
import ctypes

ctypes.CDLL(None).msgget(0x5A59, 0o1666)
