"""Exceed it in unmapped files

Needs: cgroup.memory
Profile: subprocess
Ends: MemoryLimitExceeded
Limits: memory_mb=48
"""
piece, held = os.urandom(1 << 20), []
for count in range(25):
    held.append(raw("memfd_create", b"hidden", 0))
    for _ in range(8):
        os.write(held[-1], piece)
TRIAL.check("memory", False, f"{8 * len(held)} MiB held in files, of 48 granted")
TRIAL.report()
