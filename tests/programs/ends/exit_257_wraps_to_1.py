# zygo: {"label": "NonZeroExit", "exit": {"code": 1}}
import sys

sys.exit(257)
