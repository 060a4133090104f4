# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["cycl|circular|itself"], "value_absent": true}
def f(x):
    loop = [x]
    loop.append(loop)
    return loop
