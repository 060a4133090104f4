# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [200000], "determinism": {"runs": 2, "same": true}}
import sys


# Lists and dicts that were made before the fork are reallocated in the job.
def f(x):
    before = len(sys.modules)
    for n in range(200_000):
        sys.modules[f"fake{n}"] = None
    return len(sys.modules) - before
