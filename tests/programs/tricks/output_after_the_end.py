# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "first\n"}
import os
import time

print("first", flush=True)
if os.fork() == 0:
    while True:
        time.sleep(5)
        print("late", flush=True)
