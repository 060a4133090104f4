# zygo: {"job": {"limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stdout"}}
import os

copy = os.dup(1)
os.close(1)
while True:
    os.write(copy, b"x" * 10_000)
