# zygo: {"job": {"mode": "call", "func": "f", "inputs": [[], [1]]}, "label": "IndexError", "exception": {"type": "IndexError", "message": "out of range"}}
def f(items):
    return items[0]  # <- crime
