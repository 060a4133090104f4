# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["personality"]}
# READ_IMPLIES_EXEC: what is mapped readable from then on would be executable.
import ctypes

ctypes.CDLL(None).personality(0x0400000)
