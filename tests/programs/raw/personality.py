# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["personality"]}
# ADDR_NO_RANDOMIZE, which a later program would inherit.
import ctypes

ctypes.CDLL(None).personality(0x0040000)
