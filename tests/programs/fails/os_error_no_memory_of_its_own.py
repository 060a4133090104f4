# zygo: {"label": "OSError", "exception": {"message": "mine"}}
import errno

raise OSError(errno.ENOMEM, "mine")
