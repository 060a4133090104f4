# zygo: {"job": {"limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}, "stdout": "deaf\n"}
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    signal.pause()
