"""All that a process can find out about what an earlier one may have set: descriptors, scratch, signals, options."""
import ctypes
import fcntl
import json
import os
import resource
import signal
import struct
import sys

import memory

F_GET_RW_HINT, PERSONALITY, IOPRIO_GET, GET_MEMPOLICY = 1035, 135, 252, 239
libc = ctypes.CDLL(None, use_errno=True)


def attempt(action):
    try:
        return action()
    except OSError as error:
        return error.errno


def lock_on(fd):
    """Of another owner: what this one would have to wait for."""
    writes = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
    question = struct.pack("hhqqi", fcntl.F_WRLCK if writes else fcntl.F_RDLCK, 0, 0, 0, 0)
    return struct.unpack("hhqqi", fcntl.fcntl(fd, fcntl.F_GETLK, question))[0] != fcntl.F_UNLCK


def hint_of(fd):
    return struct.unpack("Q", fcntl.fcntl(fd, F_GET_RW_HINT, bytes(8)))[0]


def stream(fd):
    about = os.fstat(fd)
    return {"flags": fcntl.fcntl(fd, fcntl.F_GETFL), "mode": about.st_mode, "owner": (about.st_uid, about.st_gid),
            "descriptor": fcntl.fcntl(fd, fcntl.F_GETFD), "lock": attempt(lambda: lock_on(fd)),
            "hint": attempt(lambda: hint_of(fd)), "attributes": attempt(lambda: os.listxattr(fd))}


def scratch():
    about, room = os.stat("/tmp"), os.statvfs("/tmp")
    return {"mode": about.st_mode, "owner": (about.st_uid, about.st_gid), "links": about.st_nlink,
            "attributes": attempt(lambda: os.listxattr("/tmp")), "room": (room.f_bfree, room.f_ffree),
            "holds": sorted(os.listdir("/tmp")), "writable": os.access("/tmp", os.W_OK)}


def disposition(number):
    """0: default, 1: ignored, 2: some handler."""
    action = ctypes.create_string_buffer(256)
    libc.sigaction(number, None, action)
    return min(struct.unpack_from("Q", action)[0], 2)


def signals():
    return {"blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "pending": sorted(signal.sigpending()),
            "dispositions": [disposition(number) for number in range(1, 65)],
            "timers": [signal.getitimer(timer) for timer in range(3)]}


def process():
    mask = os.umask(0)
    return {"umask": mask, "directory": os.getcwd(), "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "class": os.sched_getscheduler(0), "processors": sorted(os.sched_getaffinity(0)),
            "ids": (os.getresuid(), os.getresgid(), os.getgroups()), "pid": os.getpid(), "group": os.getpgid(0),
            "session": os.getsid(0), "limits": [resource.getrlimit(kind) for kind in range(16)],
            "ioprio": libc.syscall(IOPRIO_GET, 1, 0), "personality": libc.syscall(PERSONALITY, 0xFFFFFFFF),
            "policy": libc.syscall(GET_MEMPOLICY, None, None, 0, None, 0)}


def options():
    """prctl(2): parent's death, dumpable, keep capabilities, bits, slack, subreaper, no new rights, huge pages."""
    number = ctypes.c_int(0)
    libc.prctl(2, ctypes.byref(number), 0, 0, 0)
    name = ctypes.create_string_buffer(16)
    libc.prctl(16, name, 0, 0, 0)
    return [number.value, name.value.decode(), *(libc.prctl(option, 0, 0, 0, 0) for option in (3, 7, 27, 30, 39, 42))]


print(json.dumps({
    "streams": [stream(fd) for fd in range(3)], "scratch": scratch(), "signals": signals(), "process": process(),
    "options": options(), "environment": dict(os.environ), "arguments": sys.argv[1:],
    "open": [fd for fd in range(3, 256) if attempt(lambda fd=fd: os.fstat(fd)) != 9],
    "mapped": len(memory.ranges()), "modules": len(sys.modules), "path": sys.path,
}))
