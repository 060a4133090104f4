# zygo: {"job": {}, "label": "E", "exception": {"type": "E"}, "max_result_kb": 64}
class E(Exception):
    __module__ = "\x1b[2J\n" * 1_000_000


E.__qualname__ = "q\n" * 1_000_000
raise E("x")
