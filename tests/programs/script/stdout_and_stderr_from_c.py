# zygo: {"label": "OK", "stdout": "py\nc\n"}
import ctypes

print("py", flush=True)
libc = ctypes.CDLL(None)
libc.puts(b"c")
libc.fflush(None)
