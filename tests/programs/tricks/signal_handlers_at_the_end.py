# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"wall_ms": 2000, "cpu_ms": 1000}}, "labels": ["OK", "TimeoutException"], "value_if_ok": [1]}
import signal


def f(x):
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    return x
