# zygo: {"label": "UnsafeCode", "mentions": ["spawn|fork|clone|exec"]}
import os

os.posix_spawn("/bin/true", ["true"], {})  # <- crime
