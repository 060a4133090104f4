# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["syslog"]}
import ctypes

ctypes.CDLL(None).klogctl(3, ctypes.create_string_buffer(4096), 4096)
