# zygo: {"job": {}, "label": "OK"}
import os

open("f", "w").close()
os.mkdir("d")
for path in ("f", "d"):
    for number in range(20):
        try:
            os.setxattr(path, f"user.n{number}", b"x" * 1000)
        except OSError:
            pass
