# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
# Directories without any permission, deep and with odd names: the wipe after the job must manage.
import os


def f(x):
    for name in ("\n", "-rf", "\x1b[31m", "a" * 255, "\u00e9"):
        os.mkdir(name)
        open(os.path.join(name, "x"), "w").close()
        os.chmod(name, 0)
    for _ in range(200):
        os.mkdir("d")
        os.chdir("d")
    os.symlink("/usr", "out")
    os.symlink(".", "self")
    return x
