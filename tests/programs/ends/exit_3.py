# zygo: {"label": "NonZeroExit", "exit": {"code": 3, "signal": null}}
import sys

sys.exit(3)
