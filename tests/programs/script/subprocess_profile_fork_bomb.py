# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"pids": 16, "wall_ms": 3000}}, "label": "ProcessLimitExceeded", "detail": {"limit": "pids"}}
import os

while True:
    os.fork()
