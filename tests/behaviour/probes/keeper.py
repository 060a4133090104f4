"""Puts things where they outlive a process (argument `put`), or looks whether they are there (`get`)."""
import ctypes
import json
import os
import sys

KEY = 0x5A594751
IPC_CREAT, KEY_SPEC_SESSION, KEY_SPEC_USER = 0o1000, -3, -4
ADD_KEY, KEYCTL, MQ_OPEN = 248, 250, 240
KEYCTL_SEARCH = 10
libc = ctypes.CDLL(None, use_errno=True)
create = IPC_CREAT | 0o666 if sys.argv[1] == "put" else 0


def rings():
    for ring in (KEY_SPEC_SESSION, KEY_SPEC_USER):
        if create:
            yield libc.syscall(ADD_KEY, b"user", b"zygo-leftover", b"x", 1, ring)
        else:
            yield libc.syscall(KEYCTL, KEYCTL_SEARCH, ring, b"user", b"zygo-leftover", 0)


def queue():
    flags = os.O_CREAT | os.O_RDWR if create else os.O_RDONLY
    return libc.syscall(MQ_OPEN, b"zygo-leftover", flags, 0o666, None)


def shared_memory_file():
    try:
        return os.open("/dev/shm/zygo-leftover", os.O_CREAT | os.O_RDWR if create else os.O_RDONLY)
    except OSError:
        return -1


got = {
    "shm": libc.shmget(KEY, 4096 if create else 0, create),
    "sem": libc.semget(KEY, 1 if create else 0, create),
    "msg": libc.msgget(KEY, create),
    "mq": queue(),
    "shm file": shared_memory_file(),
    "session ring": next(ring := rings()),
    "user ring": next(ring),
}
print(json.dumps(sorted(name for name, handle in got.items() if handle >= 0)))
