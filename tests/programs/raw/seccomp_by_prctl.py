# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["prctl"]}
import ctypes

ctypes.CDLL(None).prctl(22, 1, 0, 0, 0)
