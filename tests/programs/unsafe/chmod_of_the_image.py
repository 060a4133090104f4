# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["chmod", "/usr/bin/env"]}
import os

try:
    os.chmod("/usr/bin/env", 0o4777)  # <- crime
except OSError:
    pass
