# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "outcome"}}
# The class that is raised depends on the hash seed.
def f(x):
    raise type(f"Failure{abs(hash('zygo'))}", (Exception,), {})
