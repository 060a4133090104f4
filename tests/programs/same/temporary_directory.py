# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [["a"]], "determinism": {"runs": 2, "same": true}}
import os
import tempfile


def f(x):
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, "a"), "w").close()
        return os.listdir(folder)
