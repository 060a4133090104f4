# zygo: {"job": {}, "label": "OK"}
import fcntl
import struct

F_OFD_SETLK = 37
for fd in range(3):
    for lock in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        try:
            fcntl.fcntl(fd, F_OFD_SETLK, struct.pack("hhqqi", lock, 0, 4242, 77, 0))
        except OSError:
            pass
    fcntl.flock(fd, fcntl.LOCK_EX)
fcntl.flock(open("/usr/bin/env"), fcntl.LOCK_EX)
