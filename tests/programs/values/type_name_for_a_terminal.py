# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "max_result_kb": 4}
def f(x):
    return type("\x1b[2J\n\u202e" * 100_000, (), {})()
