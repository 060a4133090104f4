# zygo: {"label": "Signalled", "exit": {"signal": "SIGKILL"}}
import os
import signal

os.kill(0, signal.SIGKILL)
