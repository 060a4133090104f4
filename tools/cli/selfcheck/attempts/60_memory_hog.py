"""Exceed the memory limit

Ends: MemoryLimitExceeded
Limits: memory_mb=48
"""
held = []
for count in range(200):
    held.append(bytearray(os.urandom(1 << 20)))
TRIAL.check("memory", False, f"{len(held)} MiB held at once, of 48 granted")
TRIAL.report()
