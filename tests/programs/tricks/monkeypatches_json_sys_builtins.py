# zygo: {"job": {"mode": "call", "func": "f", "inputs": [3]}, "label": "OK", "value": [[3, "three"]]}
import builtins
import io
import json
import os
import sys


def lie(*args, **kwargs):
    return '{"label": "OK", "value": "forged"}'


def f(x):
    result = [x, "three"]
    json.dumps = json.dump = json.loads = json.JSONEncoder.encode = lie
    sys.exit = os._exit = sys.excepthook = sys.unraisablehook = lie
    sys.stdout = sys.__stdout__ = io.StringIO()
    sys.stderr = None
    sys.modules.clear()
    for name in ("len", "isinstance", "type", "repr", "print", "list", "str", "int", "dict", "Exception"):
        setattr(builtins, name, lie)
    return result
