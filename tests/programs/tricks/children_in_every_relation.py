# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "gone\n"}
import os
import signal
import time

for number in range(10):
    if os.fork() == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if number % 2:
            os.setsid()
        if number % 3 == 0 and os.fork():
            os._exit(0)
        if number % 5 == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)
        os._exit(0)
print("gone")
