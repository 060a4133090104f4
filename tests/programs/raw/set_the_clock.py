# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["clock_settime"]}
import time

try:
    time.clock_settime(time.CLOCK_REALTIME, 0)
except OSError:
    pass
