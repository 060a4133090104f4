# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [["e", "link"]], "determinism": {"runs": 2, "same": true}}
import os
import shutil


def f(x):
    os.makedirs("a/b/c")
    open("a/b/c/d", "w").close()
    os.rename("a/b", "a/e")
    os.symlink("e", "a/link")
    os.link("a/e/c/d", "hard")
    found = sorted(os.listdir("a"))
    shutil.rmtree("a")
    return found
