# zygo: {"job": {"limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
time.sleep(60)
