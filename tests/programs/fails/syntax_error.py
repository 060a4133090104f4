# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "SyntaxError", "exception": {"type": "SyntaxError"}}
def f(x)  # <- crime
    return x
