# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "Signalled", "exit": {"signal": "SIGTERM"}}
import os
import signal

if os.fork() == 0:
    signal.pause()
os.kill(-1, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGTERM)
