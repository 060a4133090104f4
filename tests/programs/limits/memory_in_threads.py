# zygo: {"job": {"limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}}
import threading

keep = []


def hoard():
    while True:
        keep.append(b"\xff" * (1 << 20))


threads = [threading.Thread(target=hoard) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
