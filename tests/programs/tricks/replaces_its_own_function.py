# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1, 2]}, "label": "OK", "value": [1, 2]}
# The function is looked up once, as any caller would.
def f(x):
    global f
    f = None
    return x
