# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"cpu_ms": 3000, "memory_mb": 256}}, "label": "InvalidResult", "mentions": ["large|big|limit|value_kb"]}
# Small in memory, 2 ** 40 leaves when written out.
def f(x):
    for _ in range(40):
        x = [x, x]
    return x
