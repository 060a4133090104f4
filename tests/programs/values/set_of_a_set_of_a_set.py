# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["deeper than 200"]}
def f(x):
    nested = frozenset()
    for _ in range(1000):
        nested = frozenset([nested])
    return nested
