# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
while True:
    os.wait()
