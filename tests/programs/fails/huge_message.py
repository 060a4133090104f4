# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "ValueError", "max_result_kb": 1024}
# A message of 32 MB arrives cut, not as 32 MB.
def f(x):
    raise ValueError("x" * (32 << 20))
