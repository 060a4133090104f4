# zygo: {"job": {"limits": {"cpu_ms": 300, "wall_ms": 8000}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import time

while True:
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    time.sleep(0.001)
