# zygo: {"label": "OK", "stdout": "[]\n"}
import errno
import os

alive = []
for fd in range(3, 256):
    try:
        os.write(fd, b"junk" * 1024)
        alive.append(fd)
    except OSError as error:
        if error.errno != errno.EBADF:
            alive.append(fd)
print(alive)
