# zygo: {"job": {}, "label": "NonZeroExit", "detail": {"code": 255}, "exit": {"code": 255}}
import sys

sys.exit(-1)
