# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "MemoryError"}
# Code compiled under another name is Python code all the same: nothing failed to be allocated.
def f(x):
    exec(compile("raise MemoryError", "library.py", "exec"))
