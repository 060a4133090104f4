# zygo: {"label": "Signalled", "exit": {"code": null, "signal": "SIGSYS"}}
# Looks like a filter's kill from afar; only the filter's own evidence makes UnsafeCode.
import os
import signal

os.kill(os.getpid(), signal.SIGSYS)
