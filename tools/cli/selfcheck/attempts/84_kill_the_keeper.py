"""Kill what reports for the job

Ends: NonZeroExit
"""
import signal

for pid in {os.getppid(), FACTS["daemon"]} - {0, 1}:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
os._exit(7)
