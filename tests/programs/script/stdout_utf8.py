# zygo: {"label": "OK", "stdout": "caf\u00e9 \u4e2d \ud83d\ude00\n", "stdout_has": {"bytes": 15, "lossy": false}}
print("caf\u00e9 \u4e2d \U0001f600")
