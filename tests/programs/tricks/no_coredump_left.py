# zygo: {"label": "Signalled", "exit": {"signal": "SIGABRT"}}
import os
import resource

try:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except (ValueError, OSError):
    pass
os.abort()
