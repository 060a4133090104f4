# zygo: {"job": {}, "label": "RecursionError"}
nested = []
for _ in range(100_000):
    nested = [nested]
repr(nested)
