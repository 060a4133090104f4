# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["OK", "InvalidResult"]}
# It cannot be UTF-8; the contract leaves open whether it is repaired or refused. The line stays JSON.
def f(x):
    return "\ud800"
