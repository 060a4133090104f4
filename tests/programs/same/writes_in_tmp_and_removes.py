# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": ["42"], "determinism": {"runs": 2, "same": true}}
import os


def f(x):
    with open("/tmp/note.txt", "w") as file:
        file.write("42")
    with open("/tmp/note.txt") as file:
        text = file.read()
    os.remove("/tmp/note.txt")
    return text
