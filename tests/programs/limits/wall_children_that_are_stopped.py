# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import os
import signal

for _ in range(5):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
os.wait()
