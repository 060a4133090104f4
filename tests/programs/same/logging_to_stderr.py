# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [1], "determinism": {"runs": 2, "same": true}, "stderr": "careful"}
import logging


def f(x):
    logging.warning("careful")
    return x
