# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": ["rang"]}
# SIGALRM belongs to the program: our clock is elsewhere.
import signal


class Rang(Exception):
    pass


def ring(number, frame):
    raise Rang


def f(x):
    signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while True:  # not pause(), which a signal just before it does not wake
            pass
    except Rang:
        return "rang"
