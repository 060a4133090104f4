# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "ValueError", "exception": {"message": "\u001b\\[31m\\u0000\u0007\n"}}
def f(x):
    raise ValueError("\x1b[31m\0\a\n")
