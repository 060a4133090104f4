"""Exceed the wall limit, deaf to signals

Ends: TimeoutException
Limits: wall_ms=400
"""
import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for _ in range(100):
    time.sleep(0.1)
TRIAL.check("wall clock", False, "stayed 10 s, of 0.4 s granted")
TRIAL.report()
