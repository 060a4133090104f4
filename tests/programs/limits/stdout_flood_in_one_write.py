# zygo: {"job": {"limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stdout"}, "stdout_truncated_at": 65536}
import os

data = memoryview(b"x" * (8 << 20))
while True:
    os.write(1, data)
