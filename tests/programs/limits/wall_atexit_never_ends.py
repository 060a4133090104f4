# zygo: {"job": {"limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}, "stdout": "body\n"}
import atexit
import time

atexit.register(time.sleep, 60)
print("body", flush=True)
