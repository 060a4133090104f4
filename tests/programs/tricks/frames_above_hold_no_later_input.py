# zygo: {"job": {"mode": "call", "func": "f", "inputs": ["first", "needle-in-a-later-input"]}, "label": "OK", "stdout": "no frame of ours\nno frame of ours\n", "value": [5, 23]}
# Whoever called f left no Python frame with hidden values one f_back away.
import sys


def f(x):
    frame, found = sys._getframe().f_back, []
    while frame:
        found += [value for value in frame.f_locals.values() if value == "needle-in-a-later-input"]
        frame = frame.f_back
    print("no frame of ours" if not found else "a frame shows another call's input")
    return len(x)
