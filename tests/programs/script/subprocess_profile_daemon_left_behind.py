# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "parent\n"}
# The daemon has its own session and ignores what it can; it must not outlive the job.
import os
import signal
import time

print("parent", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        for fd in range(3):
            os.close(fd)
        time.sleep(600)
    os._exit(0)
os.wait()
