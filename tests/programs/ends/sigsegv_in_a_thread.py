# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "Signalled", "exit": {"signal": "SIGSEGV"}, "value_absent": true}
import ctypes
import threading


def f(x):
    thread = threading.Thread(target=ctypes.string_at, args=(1,))
    thread.start()
    thread.join()
    return x
