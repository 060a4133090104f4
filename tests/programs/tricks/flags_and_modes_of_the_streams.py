# zygo: {"job": {}, "label": "OK", "stdout": "said\n"}
import fcntl
import os

print("said", flush=True)
for fd in range(3):
    for action in (lambda: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND | os.O_ASYNC),
                   lambda: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_DIRECT), lambda: os.fchmod(fd, 0)):
        try:
            action()
        except OSError:
            pass
