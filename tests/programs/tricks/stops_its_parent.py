# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "fine\n"}
import os
import signal

for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGKILL, signal.SIGINT, signal.SIGCHLD, signal.SIGCONT):
    try:
        os.kill(1, number)
    except PermissionError:
        pass
print("fine")
