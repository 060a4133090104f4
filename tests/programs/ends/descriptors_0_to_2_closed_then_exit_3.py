# zygo: {"job": {}, "label": "NonZeroExit", "detail": {"code": 3}, "stdout": ""}
import os
import sys

for fd in range(3):
    os.close(fd)
sys.exit(3)
