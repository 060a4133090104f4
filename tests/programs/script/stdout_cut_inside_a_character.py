# zygo: {"job": {"limits": {"stdout_kb": 1}}, "label": "OutputLimitExceeded", "stdout_has": {"truncated": true}}
# 1024 is not a multiple of 3: the cut falls inside a character, and the line must stay JSON.
print("\u4e2d" * 1000)
