# zygo: {"label": "Signalled", "exit": {"code": null, "signal": "SIGSEGV"}}
import os
import signal

os.kill(os.getpid(), signal.SIGSEGV)
