# zygo: {"job": {}, "label": "OSError", "exception": {"type": "OSError", "message": "No space left"}}
# Raised by the program: no disk is full.
import errno
import os

raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
