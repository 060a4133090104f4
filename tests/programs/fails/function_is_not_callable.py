# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "TypeError"}
f = 12
