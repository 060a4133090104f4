# zygo: {"job": {"limits": {"memory_mb": 48, "pids": 64}}, "labels": ["MemoryLimitExceeded", "ProcessLimitExceeded"]}
# Without a memory cgroup the stacks are refused before they are filled, which looks like a thread too many.
import ctypes
import threading

threading.stack_size(256 << 20)
size = 64 << 20


def fill():
    alloca = (ctypes.c_char * size)()
    ctypes.memset(alloca, 1, size)
    threading.Event().wait(5)


for _ in range(8):
    threading.Thread(target=fill).start()
