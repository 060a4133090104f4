# zygo: {"job": {"limits": {"cpu_ms": 300}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
class Endless(Exception):
    def __str__(self):
        while True:
            pass


raise Endless
