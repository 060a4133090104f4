# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["memfd_secret"]}
import ctypes

ctypes.CDLL(None).syscall(447, 0)
