# zygo: {"label": "OK", "exit": {"code": 0}, "stdout": "kept\n"}
print("kept")
raise SystemExit
