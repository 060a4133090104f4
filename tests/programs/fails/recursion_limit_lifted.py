# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"memory_mb": 128, "cpu_ms": 2000}}, "labels": ["Signalled", "MemoryLimitExceeded", "RecursionError", "TimeoutException"]}
# Which wall it hits first (C stack, heap, clock) is the interpreter's affair; it is never OK and never ours.
import sys

sys.setrecursionlimit(10**9)


class Nest:
    def __init__(self, inner):
        self.inner = inner

    def __eq__(self, other):
        return self.inner == other


def f(x):
    nest = Nest(1)
    nest.inner = nest
    return nest == 2
