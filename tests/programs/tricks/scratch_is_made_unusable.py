# zygo: {"job": {}, "label": "OK"}
# Only works where the job owns its scratch; the next job must find it as ever.
import os

for action in (lambda: os.setxattr("/tmp", "user.left", b"x"), lambda: os.chmod("/tmp", 0),
               lambda: os.utime("/tmp", (1, 1))):
    try:
        action()
    except OSError:
        pass
