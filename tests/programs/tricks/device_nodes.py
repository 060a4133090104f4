# zygo: {"job": {}, "label": "OK", "stdout": "refused\nrefused\n"}
# Made in its own scratch, so not outside; made by nobody, because it takes a capability.
import os
import stat

for mode, number in ((stat.S_IFCHR, os.makedev(1, 1)), (stat.S_IFBLK, os.makedev(254, 0))):
    try:
        os.mknod("node", mode | 0o666, number)
        print("made")
    except OSError:
        print("refused")
