# zygo: {"job": {"limits": {"cpu_ms": 400, "wall_ms": 20000}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import resource

for name in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_NPROC):
    try:
        resource.setrlimit(name, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (ValueError, OSError):
        pass
while True:
    pass
