# zygo: {"job": {"limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stdout"}}
import os

os.set_blocking(1, False)
while True:
    try:
        os.write(1, b"x" * 65536)
    except BlockingIOError:
        pass
