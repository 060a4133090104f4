"""Exhaust the inodes

Ends: OK, DiskLimitExceeded
Limits: files=100
"""
import time

made, refused = 0, False
for number in range(300):
    try:
        open(f"file{number}", "wb").close()
        made += 1
    except OSError as full:
        if full.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        refused = True
if not refused:
    time.sleep(3)  # Where the limit is a watch's, it has this long to see them.
TRIAL.check("files", made <= 100, f"{made}, of 100 granted")
TRIAL.report()
