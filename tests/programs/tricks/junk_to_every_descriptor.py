# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [[]]}
# Nothing but the three standard streams may be open: every other write is EBADF.
import errno
import os


def f(x):
    alive = []
    for fd in range(3, 256):
        try:
            os.write(fd, b'\x00\xff{"label": "OK"}\n' * 64)
            alive.append(fd)
        except OSError as error:
            if error.errno != errno.EBADF:
                alive.append(fd)
    return alive
