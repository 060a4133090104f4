# zygo: {"label": "OK", "stdout_has": {"bytes": 5, "truncated": false, "lossy": true}, "stdout_contains": "ok"}
import os

os.write(1, b"ok\xff\xfe\n")
