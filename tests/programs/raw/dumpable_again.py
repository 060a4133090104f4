# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["prctl"]}
import ctypes

ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
