"""The innocent next job: what it computes and what it finds must not depend on who was there before."""
import ctypes
import json
import os
import resource
import signal
import sys
import threading


def files():
    return sorted(os.path.join(folder, name) for folder, folders, names in os.walk("/tmp") for name in folders + names)


def surroundings():
    mask = os.umask(0o022)
    os.umask(mask)
    return {
        "cwd": os.getcwd(),
        "listing": sorted(os.listdir(".")),
        "files": files(),
        "free_blocks": os.statvfs("/tmp").f_bfree,
        "free_inodes": os.statvfs("/tmp").f_ffree,
        "environment": dict(os.environ),
        "umask": mask,
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "handlers": [str(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM)],
        "modules": len(sys.modules),
        "threads": threading.active_count(),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "hostname": os.uname().nodename,
        "limits": [resource.getrlimit(kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)],
        "dumps": json.dumps({"a": [1, None]}),
        "libc_environment": bool(ctypes.CDLL(None).getenv(b"LEFTOVER")),
    }


def f(x):
    return [x * x, json.loads(json.dumps(surroundings()))]
