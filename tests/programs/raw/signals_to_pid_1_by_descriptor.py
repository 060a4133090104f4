# zygo: {"job": {}, "label": "OK", "stdout": "here\n"}
# The kernel shields the first process of a namespace from its own.
import os
import signal

pidfd = os.pidfd_open(1)
for number in signal.valid_signals():
    try:
        signal.pidfd_send_signal(pidfd, number)
    except OSError:
        pass
print("here")
