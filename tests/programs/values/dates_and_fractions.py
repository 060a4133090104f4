# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["datetime"]}
import datetime


def f(x):
    return datetime.datetime(2020, 1, 1)
