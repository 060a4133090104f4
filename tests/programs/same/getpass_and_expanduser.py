# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [true], "determinism": {"runs": 2, "same": true}}
import getpass
import os


# Looks up the user by its id, which makes libc try a name service on a socket: innocent.
def f(x):
    try:
        getpass.getuser()
    except (KeyError, OSError):
        pass
    return isinstance(os.path.expanduser("~"), str)
