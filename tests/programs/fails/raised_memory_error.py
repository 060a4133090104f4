# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "MemoryError"}
# The program says so; the interpreter did not run out of anything.
def f(x):
    raise MemoryError
