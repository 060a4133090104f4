# zygo: {"label": "OK", "stdout_bytes": 400000}
for _ in range(4000):
    print("x" * 99)
