# Every attempt begins with this text; it is put in front of it, so that each is one program.
import ctypes
import errno
import json
import os
import sys

FACTS = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
AT_FDCWD = -100
# The same for all machines from 424 on; the older ones for those that zygo is built for.
NUMBERS = {
    "x86_64": {"openat": 257, "open": 2, "kill": 62, "tgkill": 234, "rt_sigqueueinfo": 129, "ptrace": 101,
               "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "prlimit64": 302, "setpriority": 141,
               "sched_setscheduler": 144, "ioprio_set": 251, "socket": 41, "unshare": 272, "setns": 308, "clone": 56,
               "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "setuid": 105, "setresuid": 117,
               "setgroups": 116, "capset": 126, "capget": 125, "prctl": 157, "personality": 135, "keyctl": 250,
               "add_key": 248, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "init_module": 175,
               "kexec_load": 246, "quotactl": 179, "swapon": 167, "syslog": 103, "vmsplice": 278,
               "memfd_secret": 447, "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300,
               "seccomp": 317, "mknodat": 259, "linkat": 265, "unlinkat": 263, "renameat2": 316, "ioctl": 16,
               "shmget": 29, "shmat": 30, "semget": 64, "msgget": 68, "acct": 163, "sethostname": 170,
               "settimeofday": 164, "getpid": 39, "getppid": 110, "memfd_create": 319, "statx": 332},
    "aarch64": {"openat": 56, "kill": 129, "tgkill": 131, "rt_sigqueueinfo": 138, "ptrace": 117,
                "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "prlimit64": 261, "setpriority": 140,
                "sched_setscheduler": 119, "ioprio_set": 30, "socket": 198, "unshare": 97, "setns": 268, "clone": 220,
                "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "setuid": 146, "setresuid": 147,
                "setgroups": 159, "capset": 91, "capget": 90, "prctl": 167, "personality": 92, "keyctl": 219,
                "add_key": 217, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241, "init_module": 105,
                "kexec_load": 104, "quotactl": 60, "swapon": 224, "syslog": 116, "vmsplice": 75, "memfd_secret": 447,
                "name_to_handle_at": 264, "open_by_handle_at": 265, "fanotify_init": 262, "seccomp": 277,
                "mknodat": 33, "linkat": 37, "unlinkat": 35, "renameat2": 276, "ioctl": 29, "shmget": 194,
                "shmat": 196, "semget": 190, "msgget": 186, "acct": 89, "sethostname": 161, "settimeofday": 170,
                "getpid": 172, "getppid": 173, "memfd_create": 279, "statx": 291},
}[os.uname().machine]
NUMBERS.update({"pidfd_send_signal": 424, "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430,
                "pidfd_open": 434, "clone3": 435, "openat2": 437, "pidfd_getfd": 438})

REFUSED = (errno.EPERM, errno.EACCES)
ABSENT = (errno.ENOENT, errno.ESRCH, errno.ENOTDIR)


def raw(name, *arguments):
    """The bare system call; OSError when it fails."""
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


class Trial:
    """Collects what was tried. A refusal with an errno that says so holds, getting through is an escape, and whatever
    else happens is unclear: it is never taken for a success of the sandbox."""

    def __init__(self):
        self.tried, self.facts, self.escapes, self.unclear = [], [], [], []
        self.refusals = {}

    def attempt(self, what, action, *allowed):
        try:
            result = action()
        except OSError as refusal:
            name = errno.errorcode.get(refusal.errno, str(refusal.errno))
            self.tried.append(f"{what}: {name}")
            if refusal.errno in (allowed or REFUSED):
                self.refusals[name] = self.refusals.get(name, 0) + 1
            else:
                self.unclear.append(self.tried[-1])
        except Exception as surprise:
            self.tried.append(f"{what}: {type(surprise).__name__}: {surprise}")
            self.unclear.append(self.tried[-1])
        else:
            self.tried.append(f"{what}: got {result!r:.60}")
            self.escapes.append(self.tried[-1])

    def check(self, what, good, seen):
        """A fact that was looked at: what is there, and whether it is as it should be."""
        self.tried.append(f"{what}: {seen}")
        (self.facts if good else self.escapes).append(self.tried[-1])

    def report(self):
        if self.escapes:
            held, how = False, self.escapes
        elif self.unclear or not self.tried:
            held, how = None, self.unclear or ["nothing was tried"]
        else:
            counts = [f"{count} {name}" for name, count in self.refusals.items()]
            held, how = True, counts + self.facts
        print(json.dumps({"held": held, "how": ", ".join(how)[:2000], "tried": self.tried[:300]}), flush=True)


TRIAL = Trial()
