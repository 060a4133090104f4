# zygo: {"job": {"limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}, "stdout": "going down\n"}
# A stopped process neither ends nor burns CPU: only our own clock ends it.
import os
import signal

print("going down", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
print("was continued")
