# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "determinism": {"runs": 2, "same": true}}
# Its order differs between runs; as a set it is the same value.
def f(x):
    return {f"item{n}" for n in range(100)}
