# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["ioctl"]}
import fcntl

try:
    fcntl.ioctl(0, 0x5412, b"x")  # TIOCSTI
except OSError:
    pass
