# zygo: {"label": "OK", "stdout": "out\n", "stderr_is": "err\n"}
import sys

print("out")
print("err", file=sys.stderr)
