# zygo: {"job": {"limits": {"cpu_ms": 400, "wall_ms": 5000}}, "label": "UnsafeCode", "mentions": ["fork|clone"]}
# Also runs into its CPU limit; the attempt was first and weighs more.
import os

while True:
    try:
        os.fork()  # <- crime
    except OSError:
        pass
