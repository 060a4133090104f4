# zygo: {"label": "OK", "exit": {"code": 0}}
import sys

sys.exit(0)
