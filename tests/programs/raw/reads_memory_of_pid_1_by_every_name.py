# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["process_madvise|pidfd_getfd|kcmp|move_pages"]}
import ctypes
import os

libc = ctypes.CDLL(None)
pidfd = os.pidfd_open(1)
libc.syscall(440, pidfd, None, 0, 4, 0)
libc.syscall(438, pidfd, 3, 0)
libc.syscall(312, os.getpid(), 1, 2, 0, 0)
libc.syscall(279, 1, 0, None, None, None, 0)
