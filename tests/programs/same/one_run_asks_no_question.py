# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK"}
import random


def f(x):
    return random.random()
