# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": ["hi"], "determinism": {"runs": 2, "same": true}}
import mmap


def f(x):
    with open("area", "w+b") as file:
        file.truncate(4096)
        with mmap.mmap(file.fileno(), 4096) as area:
            area[:2] = b"hi"
        return file.read(2).decode()
