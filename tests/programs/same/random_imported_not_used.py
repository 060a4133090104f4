# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [1], "determinism": {"runs": 2, "same": true}}
import os
import random
import socket
import subprocess
import time


def f(x):
    return x
