# zygo: {"job": {"limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import os

reader, writer = os.pipe()
os.read(reader, 1)
