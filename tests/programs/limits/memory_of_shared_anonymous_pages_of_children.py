# zygo: {"job": {"policy": {"profile": "subprocess"}, "limits": {"memory_mb": 64}}, "label": "MemoryLimitExceeded"}
# None of the processes is over the limit, all of them are.
import os
import time

for _ in range(6):
    if os.fork() == 0:
        block = bytearray(20 << 20)
        block[::4096] = b"x" * len(block[::4096])
        time.sleep(5)
        os._exit(0)
while True:
    os.wait()
