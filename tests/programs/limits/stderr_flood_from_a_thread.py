# zygo: {"job": {"limits": {"stderr_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stderr"}}
import os
import threading


def flood():
    while True:
        os.write(2, b"\xff" * 4096)


threading.Thread(target=flood).start()
