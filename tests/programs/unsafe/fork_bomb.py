# zygo: {"job": {"limits": {"wall_ms": 2000}}, "label": "UnsafeCode", "mentions": ["fork|clone"]}
import os

while True:
    os.fork()  # <- crime
