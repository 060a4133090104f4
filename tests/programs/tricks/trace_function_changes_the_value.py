# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
import sys


def tracer(frame, event, argument):
    frame.f_trace_opcodes = True
    return tracer


def f(x):
    sys.settrace(tracer)
    sys.setprofile(lambda *_: None)
    return x
