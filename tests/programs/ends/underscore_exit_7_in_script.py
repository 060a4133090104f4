# zygo: {"label": "NonZeroExit", "exit": {"code": 7}}
import os

os._exit(7)
