# zygo: {"label": "UnsafeCode", "mentions": ["zygo_was_here"]}
import os

os.chdir("/usr")
open("zygo_was_here", "w")  # <- crime
