# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK"}
import os

for _ in range(40):
    if os.fork() == 0:
        os._exit(7)
