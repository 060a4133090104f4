# zygo: {"job": {"mode": "call", "func": "f", "inputs": [3]}, "label": "ValueError"}
import builtins
import os
import sys
import traceback


def lie(*args, **kwargs):
    return "nothing happened"


def f(x):
    traceback.format_exception = traceback.print_exc = sys.excepthook = lie
    sys.exit = os._exit = builtins.BaseException = builtins.Exception = lie
    raise ValueError(x)
