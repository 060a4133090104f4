# zygo: {"label": "Signalled", "exit": {"code": null, "signal": "SIGKILL"}}
import os
import signal

os.kill(os.getpid(), signal.SIGKILL)
