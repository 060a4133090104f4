# zygo: {"job": {"limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}, "exit": {"signal": "SIGKILL"}}
import signal

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True:
    pass
