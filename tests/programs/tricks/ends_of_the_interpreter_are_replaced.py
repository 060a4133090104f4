# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 2]}, "label": "OK", "value": [1, 2]}
import atexit
import builtins
import io
import logging
import os
import sys
import threading


def nothing(*_, **__):
    raise SystemExit(0)


def f(x):
    threading._shutdown = atexit._run_exitfuncs = logging.shutdown = nothing
    os.getpid = os.write = os._exit = nothing
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = None
    sys.excepthook = sys.unraisablehook = threading.excepthook = nothing
    sys.path_hooks = sys.meta_path = sys.path = None
    io.TextIOWrapper = io.BufferedWriter = builtins.print = builtins.open = None
    builtins.BaseException = builtins.ValueError = builtins.list = builtins.type = None
    sys.modules.clear()
    return x
