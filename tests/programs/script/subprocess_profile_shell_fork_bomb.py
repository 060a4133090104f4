# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"pids": 20, "wall_ms": 1500, "cpu_ms": 1500}}, "labels": ["ProcessLimitExceeded", "TimeoutException"]}
import subprocess

subprocess.run(["sh", "-c", "b() { b | b & }; b; wait; sleep 5"], stderr=subprocess.DEVNULL)
