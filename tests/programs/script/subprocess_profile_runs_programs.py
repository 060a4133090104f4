# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "3\n0\n"}
import os
import subprocess
import sys

print(subprocess.run([sys.executable, "-c", "print(1 + 2)"], capture_output=True, text=True, check=True).stdout, end="")
print(os.system("true"))
