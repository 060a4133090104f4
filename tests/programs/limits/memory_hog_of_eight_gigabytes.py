# zygo: {"job": {"template": "python-numpy", "limits": {"memory_mb": 4096, "cpu_ms": 1000}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}, "memory_peak_below_kb": 100000}
# Refused as a whole: nothing of it is ever there.
import numpy

numpy.ones(1 << 30)
