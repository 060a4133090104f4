# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["name_to_handle_at"]}
import ctypes

ctypes.CDLL(None).syscall(303, -100, b"/", ctypes.create_string_buffer(b"\x80" + b"\0" * 200), ctypes.byref(ctypes.c_int()), 0)
