# zygo: {"job": {}, "label": "OK"}
# Whatever a process may set for itself must end with it; tests/behaviour/isolation/test_leftovers.py looks.
import ctypes
import os
import resource
import signal
import threading

libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_TIMERSLACK = 1, 15, 29
libc.prctl(PR_SET_NAME, b"poisoned", 0, 0, 0)
libc.prctl(PR_SET_TIMERSLACK, 1_000_000_000, 0, 0, 0)
libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
os.umask(0o777)
os.nice(19)
os.setpgid(0, 0)
libc.mlockall(3)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
libc.alarm(1)
