# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
# The address shows in the text.
def f(x):
    return repr(object())
