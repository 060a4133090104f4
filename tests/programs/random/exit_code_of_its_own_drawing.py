# zygo: {"job": {"determinism": {"runs": 2}, "limits": {"cpu_ms": 2000}}, "label": "NonDeterministicCode", "determinism": {"same": false}}
import os
import sys

print(os.urandom(8).hex())
sys.exit(os.urandom(1)[0] // 2 + 1)
