# zygo: {"job": {"limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stdout"}, "stdout_truncated_at": 65536}
while True:
    print("x" * 99)
