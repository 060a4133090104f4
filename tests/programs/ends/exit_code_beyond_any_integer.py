# zygo: {"job": {}, "label": "NonZeroExit", "detail": {"code": 255}}
import sys

sys.exit(10 ** 30)
