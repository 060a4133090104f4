"""Find files, processes left in the cell

After: 70_leave_things
Profile: subprocess
"""
import resource
import signal

for place in (".", "/dev/shm"):
    try:
        there = os.listdir(place)
    except OSError as refusal:
        TRIAL.check(place, place != ".", refusal.strerror)
        continue
    TRIAL.check(place, not there, there or "empty")
TRIAL.check("modules", not any(hasattr(module, "left") for module in (json, os, sys)), "as they were")
TRIAL.check("environment", "ZYGO_LEFT" not in os.environ and not LIBC.getenv(b"ZYGO_LEFT"), "as it was")
TRIAL.check("umask", os.umask(0o22) != 0, "as it was")
TRIAL.check("descriptor limit", resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 20, "as it was")
TRIAL.check("timer", signal.getitimer(signal.ITIMER_REAL) == (0, 0), "none")
TRIAL.check("SIGTERM", signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "as it was")
TRIAL.check("blocked signals", not signal.pthread_sigmask(signal.SIG_BLOCK, ()), "none")
# Every process of this user that can be signalled: an own one, but ours.
others = []
for pid in set(range(2, 400)) - {os.getpid(), os.getppid()}:
    try:
        os.kill(pid, 0)
        others.append(pid)
    except OSError:
        pass
TRIAL.check("processes", not others, others or "none")
TRIAL.report()
