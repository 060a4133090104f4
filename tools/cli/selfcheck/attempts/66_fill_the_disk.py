"""Fill the disk

Ends: OK, DiskLimitExceeded
Limits: disk_mb=4
"""
import time

piece, written, refused = bytes(1 << 16), 0, False
for number in range(8):
    try:
        with open(f"file{number}", "wb", buffering=0) as file:
            for _ in range(16):
                written += file.write(piece)
    except OSError as full:
        if full.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        refused = True
if not refused:
    time.sleep(3)  # Where the limit is a watch's, it has this long to see 8 MiB.
TRIAL.check("bytes", written <= 4 << 20, f"{written >> 10} KiB, of 4096 granted")
TRIAL.report()
