# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": ["hello"], "determinism": {"runs": 2, "same": true}}
import tempfile


def f(x):
    with tempfile.TemporaryFile("w+") as file:
        file.write("hello")
        file.seek(0)
        return file.read()
