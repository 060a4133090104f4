# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stdout"}}
import os

if os.fork() == 0:
    while True:
        os.write(1, b"x" * 4096)
os.wait()
