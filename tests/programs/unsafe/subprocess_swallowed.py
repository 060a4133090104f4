# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["Popen|clone|fork|exec"]}
import subprocess


def f(x):
    try:
        subprocess.check_output(["/bin/sh", "-c", "id"])  # <- crime
    except Exception:
        pass
    return x
