# zygo: {"label": "UnsafeCode", "mentions": ["fork|clone"]}
import os

try:
    os.fork()  # <- crime
except OSError:
    pass
raise ValueError("look here instead")
