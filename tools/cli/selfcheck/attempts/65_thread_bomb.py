"""Thread bomb

Ends: OK, ProcessLimitExceeded
Limits: pids=12
"""
import threading

never, made = threading.Event(), 0
try:
    while made < 200:
        threading.Thread(target=never.wait, daemon=True).start()
        made += 1
except RuntimeError:
    pass
TRIAL.check("threads", made < 12, f"{made} more, of 12 granted in all")
TRIAL.report()
sys.stdout.flush()
os._exit(0)
