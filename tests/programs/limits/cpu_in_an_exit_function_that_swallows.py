# zygo: {"job": {"limits": {"cpu_ms": 300}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import atexit


def endless():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


atexit.register(endless)
raise ValueError("the exception came first, the limit decides")
