# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"value_kb": 64}}, "label": "InvalidResult", "mentions": ["large|big|limit|value_kb"], "value_absent": true}
def f(x):
    return "x" * (1 << 20)
