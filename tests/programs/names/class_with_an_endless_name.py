# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label_not": ["OK", "SandboxError", "BadJob"], "max_result_kb": 256}
def f(x):
    raise type("E" * (1 << 20), (Exception,), {})
