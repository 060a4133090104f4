# zygo: {"label": "OK", "stdout": "1\n", "value_absent": true}
value = [1]
print(1)
