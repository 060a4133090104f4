# zygo: {"label": "UnsafeCode", "mentions": ["/usr/share/common-licenses/Artistic"]}
import os

os.open("/usr/share/common-licenses/Artistic", os.O_RDWR)  # <- crime
