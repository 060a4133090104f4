# zygo: {"job": {"determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "stdout"}}
import random

print("first line is the same")
print(random.random())
