# zygo: {"job": {}, "label": "RecursionError"}
import pickle

nested = []
for _ in range(100_000):
    nested = [nested]
pickle.dumps(nested)
