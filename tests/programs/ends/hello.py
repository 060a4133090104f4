# zygo: {"label": "OK", "stdout": "hello\n", "exit": {"code": 0, "signal": null}, "stderr_is": ""}
print("hello")
