# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "7\n"}
import os

pid = os.fork()
if pid == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
