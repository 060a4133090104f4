# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK"}
# Five bytes each on the wire, five times that as JSON: it comes out whole all the same.
def f(x):
    return [()] * 500_000
