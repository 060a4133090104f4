# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"pids": 20, "wall_ms": 1000, "cpu_ms": 800}}, "labels": ["ProcessLimitExceeded", "TimeoutException"]}
import os
import signal

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
