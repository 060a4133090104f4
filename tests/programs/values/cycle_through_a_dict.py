# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["cycl|circular|itself"]}
def f(x):
    loop = {}
    loop["again"] = [loop]
    return loop
