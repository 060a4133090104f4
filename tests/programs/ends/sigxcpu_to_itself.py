# zygo: {"label": "Signalled", "exit": {"code": null, "signal": "SIGXCPU"}}
import os
import signal

os.kill(os.getpid(), signal.SIGXCPU)
