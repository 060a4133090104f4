# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "1000\n"}
import os
import shutil
import subprocess

with open("copy", "wb") as file, open("/usr/bin/id", "rb") as original:
    shutil.copyfileobj(original, file)
os.chmod("copy", 0o6755)
print(subprocess.run(["./copy", "-u"], capture_output=True, text=True, check=True).stdout.strip())
