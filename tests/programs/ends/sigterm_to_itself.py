# zygo: {"label": "Signalled", "exit": {"code": null, "signal": "SIGTERM"}}
import os
import signal

os.kill(os.getpid(), signal.SIGTERM)
