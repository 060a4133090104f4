# zygo: {"job": {}, "label": "OK", "stdout": "locked []\n"}
import multiprocessing
import os

lock = multiprocessing.Lock()
with lock:
    print("locked", os.listdir("/tmp"))
