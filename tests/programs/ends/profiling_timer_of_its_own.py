# zygo: {"job": {"limits": {"cpu_ms": 3000}}, "label": "Signalled", "exit": {"signal": "SIGPROF"}}
import signal

signal.setitimer(signal.ITIMER_PROF, 0.02)
while True:
    pass
