# zygo: {"label": "NonZeroExit", "exit": {"code": 1}, "stderr": "out of paint"}
import sys

sys.exit("out of paint")
