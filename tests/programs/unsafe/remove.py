# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["/etc/zygo_victim"]}
import os


def f(x):
    os.remove("/etc/zygo_victim")  # <- crime
    return x
