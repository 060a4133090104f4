# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["iopl"]}
import ctypes

ctypes.CDLL(None).iopl(3)
