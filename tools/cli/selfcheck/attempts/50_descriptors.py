"""Find open descriptors

By: fds
"""
import resource

NO = (*REFUSED, *ABSENT)
there = []
for number in range(3, 4096):
    try:
        os.fstat(number)
        there.append(number)
    except OSError as error:
        if error.errno != errno.EBADF:
            there.append(number)
TRIAL.check("fstat 3 to 4095", not there, there or "none is open")
TRIAL.attempt("/proc/self/fd", lambda: [each for each in os.listdir("/proc/self/fd") if int(each) > 3], *NO)
for number in range(3):
    kind = os.fstat(number).st_mode & 0o170000
    TRIAL.check(f"descriptor {number}", kind in (0o010000, 0o020000), f"kind {kind:o}")
    TRIAL.attempt(f"what lies beneath {number}", lambda: os.open("..", os.O_RDONLY, dir_fd=number), errno.ENOTDIR)
TRIAL.report()
