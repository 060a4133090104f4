# zygo: {"job": {"files": {"helper.py": {"text": "def double(n): return 2 * n\n"}}}, "label": "OK", "stdout": "42\n"}
import os

import helper

os.remove("helper.py")
print(helper.double(21))
