"""Fork bomb

Profile: subprocess
Ends: OK, UnsafeCode, ProcessLimitExceeded
Limits: pids=12, wall_ms=15000
"""
import signal
import time

reader, writer = os.pipe()  # one byte for each process that was made
os.set_blocking(reader, False)
deadline = time.monotonic() + 8


def multiply():
    """Every child multiplies, too. Ends for the first process when the kernel says no, or when it never does."""
    made, first = 0, os.getpid()
    while time.monotonic() < deadline and made < 60:
        try:
            pid = os.fork()
        except OSError as refusal:
            return refusal
        if pid == 0:
            os.write(writer, b".")
            multiply()
            signal.pause()
        made += 1
    return None


refusal = multiply()
time.sleep(0.1)  # Others may still be multiplying; what is asked is only how many there are at most.
try:
    made = len(os.read(reader, 65536))
except BlockingIOError:
    made = 0
number = refusal.errno if refusal else 0
# Where no cgroup counts, forks at the same moment can overshoot; a bomb that is not stopped reaches hundreds.
TRIAL.check("processes", number in (errno.EAGAIN, errno.EPERM) and made < 48,
            f"{made} more, of 12 granted in all, then {errno.errorcode.get(number, 'no refusal')}")
TRIAL.report()
