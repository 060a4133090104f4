# zygo: {"job": {}, "label": "OK"}
import os

for number in range(300):
    os.makedirs(f"a/.wipe{number:x}/b")
    open(f".wipe{number:x}", "w").close()
