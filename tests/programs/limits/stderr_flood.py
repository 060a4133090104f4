# zygo: {"job": {"limits": {"stderr_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stderr"}, "stdout": ""}
import sys

while True:
    print("y" * 99, file=sys.stderr)
