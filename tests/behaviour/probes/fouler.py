"""Sets everything that a process may set and that something other than the process might keep; breaks no rule.

With the argument `unseen` only what occupies neither a block nor an inode of its scratch.
"""
import ctypes
import fcntl
import os
import resource
import signal
import struct
import sys

F_OFD_SETLK, F_SET_RW_HINT = 37, 1036
libc = ctypes.CDLL(None, use_errno=True)


def quietly(action, *arguments):
    try:
        action(*arguments)
    except (OSError, ValueError):
        pass


def foul_streams():
    for fd in range(3):
        for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
            quietly(fcntl.fcntl, fd, F_OFD_SETLK, struct.pack("hhqqi", kind, 0, 4242, 77, 0))
        quietly(fcntl.flock, fd, fcntl.LOCK_EX)
        quietly(fcntl.fcntl, fd, F_SET_RW_HINT, struct.pack("Q", 5))
        quietly(os.setxattr, fd, "user.left", b"x")
        quietly(os.fchmod, fd, 0o111)
        for flags in (os.O_APPEND, os.O_ASYNC, os.O_DIRECT, os.O_NONBLOCK):
            quietly(fcntl.fcntl, fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | flags)


def fill_scratch():
    os.makedirs("a/b")
    open("a/b/c", "w").close()
    held.append(open("gone", "w"))
    os.unlink("gone")
    os.chmod("a", 0)
    quietly(os.setxattr, "/tmp", "user.left", b"x")


def foul_scratch():
    entry = struct.pack("<HHI", 1, 7, 0xFFFFFFFF) + struct.pack("<HHI", 4, 7, 0xFFFFFFFF)
    acl = struct.pack("<I", 2) + entry + struct.pack("<HHI", 0x20, 7, 0xFFFFFFFF)
    for kind in ("default", "access"):
        quietly(os.setxattr, "/tmp", f"system.posix_acl_{kind}", acl)
    quietly(os.chmod, "/tmp", 0)


def foul_signals():
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for timer in range(3):
        signal.setitimer(timer, 60, 60)
    os.kill(os.getpid(), signal.SIGUSR1)


def foul_process():
    os.umask(0o777)
    os.chdir("/usr")
    os.nice(19)
    # By names that are not there whole: who names them borrows no memory, and is in another cell.
    quietly(getattr(os, "set" + "pgid"), 0, 0)
    quietly(getattr(os, "set" + "sid"))
    for kind in range(16):
        if kind != resource.RLIMIT_AS:
            quietly(resource.setrlimit, kind, (0, 0))
    for option, value in ((1, 15), (15, b"fouled"), (29, 10 ** 9), (38, 1)):
        libc.prctl(option, value, 0, 0, 0)
    libc.mlockall(3)
    os.environ["LEFTOVER"] = "1"
    libc.setenv(b"LEFTOVER", b"1", 1)


held = []
if "unseen" not in sys.argv:
    fill_scratch()
foul_scratch()
foul_streams()
foul_signals()
foul_process()
