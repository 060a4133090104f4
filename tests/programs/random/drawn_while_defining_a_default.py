# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
ORDER = {f"item{n}" for n in range(100)}


def f(x):
    return list(ORDER)
