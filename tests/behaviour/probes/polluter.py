"""Leaves behind everything that an ordinary program may leave; breaks no rule."""
import builtins
import json
import os
import signal
import sys
import threading
import time

for name in ("leftover", "/tmp/leftover", ".hidden"):
    with open(name, "w") as file:
        file.write("left by the job before")
os.makedirs("deep/er/still")
os.chmod("deep/er", 0)
os.environ["LEFTOVER"] = "1"
os.umask(0o777)
os.nice(1)
os.chdir("/")
sys.modules["leftover"] = sys
sys.path.insert(0, "/tmp")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGALRM])
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
json.dumps = builtins.len = lambda *_: 1 / 0
sys.stdout.write("polluted\n")
