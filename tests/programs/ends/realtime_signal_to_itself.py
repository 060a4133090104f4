# zygo: {"job": {}, "label": "Signalled"}
import os

os.kill(os.getpid(), 40)
