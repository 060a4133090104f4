# zygo: {"job": {"env": {"GREETING": "hello"}}, "label": "OK", "stdout": "b'hello'\n"}
import ctypes

libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b"GREETING"))
