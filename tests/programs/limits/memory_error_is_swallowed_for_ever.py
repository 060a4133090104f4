# zygo: {"job": {"limits": {"memory_mb": 48, "wall_ms": 3000, "cpu_ms": 1500}}, "labels": ["MemoryLimitExceeded", "TimeoutException"]}
held = []
while True:
    try:
        held.append(bytearray(1 << 20))
    except MemoryError:
        pass
