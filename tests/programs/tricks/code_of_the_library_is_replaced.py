# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"], "value_absent": true}
# Functions that run at the end can be given another body; it is the program's own word that goes missing then.
import os
import threading


def leave(*_, **__):
    import os
    os._exit(0)


def f(x):
    threading.Thread(target=threading.Event().wait, args=(5,)).start()
    threading._shutdown.__code__ = leave.__code__
    return x
