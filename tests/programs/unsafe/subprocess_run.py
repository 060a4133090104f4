# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["Popen|clone|fork|exec"]}
import subprocess


def f(x):
    return subprocess.run(["ls", "/"], capture_output=True, text=True).stdout  # <- crime
