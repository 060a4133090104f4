# zygo: {"label": "UnsafeCode", "mentions": ["link"]}
import os

os.symlink("/usr/zygo_was_here", "link")
open("link", "w")  # <- crime
