# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"cpu_ms": 500, "wall_ms": 8000}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
# The limit is the job's, not each process's.
import os

pid = os.fork()
if pid == 0:
    while True:
        pass
os.wait()
