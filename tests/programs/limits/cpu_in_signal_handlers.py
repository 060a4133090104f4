# zygo: {"job": {"limits": {"cpu_ms": 300}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import signal
import time

signal.signal(signal.SIGALRM, lambda *_: sum(range(10_000)))
signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
while True:
    time.sleep(1)
