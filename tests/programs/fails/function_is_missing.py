# zygo: {"job": {"mode": "call", "func": "transform", "inputs": [1]}, "labels": ["NameError", "AttributeError"], "exception": {"message": "transform"}}
# The contract does not say which exception names the absent function, only that it is the program's.
def transfrom(x):
    return x
