# zygo: {"job": {"limits": {"cpu_ms": 4000, "wall_ms": 60000}}, "label": "Signalled", "exit": {"signal": "SIGXCPU"}}
# RLIMIT_CPU lowered by the program itself: not our limit, so not our label.
import resource

resource.setrlimit(resource.RLIMIT_CPU, (1, resource.getrlimit(resource.RLIMIT_CPU)[1]))
while True:
    pass
