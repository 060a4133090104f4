# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["semget"]}
import ctypes

ctypes.CDLL(None).semget(0x5A59, 1, 0o1666)
