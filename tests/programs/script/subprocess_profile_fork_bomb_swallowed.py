# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"pids": 16, "wall_ms": 1500, "cpu_ms": 1000}}, "labels": ["ProcessLimitExceeded", "TimeoutException"]}
# Two limits are reached at once; the precedence table decides, not the contract.
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
