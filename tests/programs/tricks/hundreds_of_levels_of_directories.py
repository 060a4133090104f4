# zygo: {"job": {}, "label": "OK"}
import os

for _ in range(300):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
open("f", "w").close()
