# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["modify_ldt"]}
import ctypes

ctypes.CDLL(None).syscall(154, 1, ctypes.create_string_buffer(16), 16)
