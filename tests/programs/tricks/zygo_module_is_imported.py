# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label_not": ["OK", "SandboxError"], "value_absent": true}
# Whatever of ours it may find and call: it gets no value out of it.
import importlib
import os
import sys


def f(x):
    module = sys.modules.get("_zygo") or importlib.import_module("_zygo")
    for fd in (0, 1, 2):
        module.serve(fd, "plain")
    return x
