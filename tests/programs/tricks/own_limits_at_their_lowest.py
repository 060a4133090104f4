# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [1]}
import resource


def f(x):
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_DATA,
                 resource.RLIMIT_STACK, resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK):
        resource.setrlimit(kind, (0, 0))
    return x
