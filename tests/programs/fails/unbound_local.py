# zygo: {"job": {"mode": "call", "func": "f", "inputs": [0]}, "label": "UnboundLocalError"}
def f(x):
    if x:
        found = x
    return found
