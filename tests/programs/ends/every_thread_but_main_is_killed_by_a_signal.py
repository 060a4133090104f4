# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Signalled", "exit": {"signal": "SIGTERM"}, "value_absent": true}
import signal
import threading
import time


def f(x):
    thread = threading.Thread(target=time.sleep, args=(5,))
    thread.start()
    signal.pthread_kill(thread.ident, signal.SIGTERM)
    thread.join()
