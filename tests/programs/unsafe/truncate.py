# zygo: {"label": "UnsafeCode", "mentions": ["/usr/share/common-licenses/Artistic"]}
import os

os.truncate("/usr/share/common-licenses/Artistic", 0)  # <- crime
