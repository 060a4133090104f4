# zygo: {"job": {"limits": {"wall_ms": 3000}}, "label": "Signalled", "exit": {"signal": "SIGALRM"}}
import signal
import time

signal.setitimer(signal.ITIMER_REAL, 0.02)
time.sleep(5)
