# zygo: {"job": {"determinism": {"runs": 2}}, "label": "OK", "stdout": "30\n", "determinism": {"runs": 2, "same": true}}
print(sum(n * n for n in range(5)))
