# zygo: {"job": {"limits": {"wall_ms": 300}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import os

reader, writer = os.pipe()
os.dup2(reader, 0)
input()
