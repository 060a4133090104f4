"""Exceed the CPU limit

Ends: TimeoutException
Limits: cpu_ms=300, wall_ms=20000
"""
import time

while time.process_time() < 5:
    try:
        while time.process_time() < 5:
            pass
    except BaseException:
        pass
TRIAL.check("CPU time", False, "5 s used, of 0.3 s granted")
TRIAL.report()
