# zygo: {"job": {}, "label": "OK", "stdout": "nothing written can be executed\n"}
# Every way to execute what was written, by bare system calls: all fail, and none is a crime, for libraries try them.
import ctypes
import errno
import os

READ, WRITE, EXEC = 1, 2, 4
SHARED, PRIVATE, FIXED, ANONYMOUS = 1, 2, 16, 32
MMAP, MPROTECT, PKEY_MPROTECT, MREMAP, MEMFD_CREATE = 9, 10, 329, 25, 319
SIZE = 4096
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(number, *arguments):
    result = libc.syscall(number, *(ctypes.c_long(argument) if isinstance(argument, int) else argument
                                    for argument in arguments))
    return result if result >= 0 else -ctypes.get_errno()


def mapped(protection, flags, fd=-1, at=0):
    return call(MMAP, at, SIZE, protection, flags, fd, 0)


got = {}
page = mapped(READ | WRITE, PRIVATE | ANONYMOUS)
code = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~(SIZE - 1)
for name, outcome in {
    "writable and executable": mapped(READ | WRITE | EXEC, PRIVATE | ANONYMOUS),
    "shared": mapped(READ | WRITE | EXEC, SHARED | ANONYMOUS),
    "executable, to be written later": mapped(READ | EXEC, PRIVATE | ANONYMOUS),
    "over what was written": mapped(READ | EXEC, PRIVATE | ANONYMOUS | FIXED, -1, page),
    "turned": call(MPROTECT, page, SIZE, READ | EXEC),
    "turned, and writable": call(MPROTECT, page, SIZE, READ | WRITE | EXEC),
    "turned by a key": call(PKEY_MPROTECT, page, SIZE, READ | EXEC, -1),
    "text made writable": call(MPROTECT, code, SIZE, READ | WRITE | EXEC),
    "a file in memory": call(MEMFD_CREATE, b"x", 0),
}.items():
    if outcome >= 0 or -outcome not in (errno.EACCES, errno.EPERM, errno.ENOMEM, errno.ENOSYS):
        got[name] = outcome

print(got or "nothing written can be executed")
