# zygo: {"label": "UnsafeCode", "mentions": ["/usr/share/common-licenses/Artistic"]}
import os

os.rename("/usr/share/common-licenses/Artistic", "/usr/share/common-licenses/Moved")  # <- crime
