# zygo: {"job": {"limits": {"stdout_kb": 64}}, "label": "OK", "stdout_bytes": 65536}
import sys

sys.stdout.write("x" * 65536)
