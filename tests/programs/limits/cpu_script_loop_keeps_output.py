# zygo: {"job": {"limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}, "stdout": "so far\n"}
print("so far", flush=True)
while True:
    pass
