# zygo: {"job": {"limits": {"stdout_kb": 64, "stderr_kb": 64}}, "label": "OutputLimitExceeded"}
import os

while True:
    os.write(1, b"o" * 65536)
    os.write(2, b"e" * 65536)
