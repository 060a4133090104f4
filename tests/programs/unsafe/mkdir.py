# zygo: {"label": "UnsafeCode", "mentions": ["/usr/zygo_dir"]}
import os

os.mkdir("/usr/zygo_dir")  # <- crime
