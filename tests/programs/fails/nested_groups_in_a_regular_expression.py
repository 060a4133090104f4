# zygo: {"job": {}, "labels": ["RecursionError", "OverflowError", "error"]}
import re

re.compile("(" * 50_000 + ")" * 50_000)
