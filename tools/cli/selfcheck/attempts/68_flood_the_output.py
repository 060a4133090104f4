"""Flood the output

Ends: OutputLimitExceeded
Limits: stdout_kb=64, wall_ms=10000
"""
line = b"x" * 65536
for _ in range(2000):
    os.write(1, line)
os.write(2, b"125 MiB written, of 64 KiB granted")
os._exit(0)
