# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
import sys
import threading


def hook(frame, event, argument):
    return hook


def f(x):
    sys.settrace(hook)
    sys.setprofile(hook)
    threading.settrace(hook)
    return x
