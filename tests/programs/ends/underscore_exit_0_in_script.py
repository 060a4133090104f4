# zygo: {"label": "OK", "exit": {"code": 0}, "stdout": "early\n"}
import os

print("early", flush=True)
os._exit(0)
