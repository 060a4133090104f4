# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "ValueError", "determinism": {"runs": 2, "same": true}}
# The message shows an address, but label, value and stdout agree.
def f(x):
    raise ValueError(repr(object()))
