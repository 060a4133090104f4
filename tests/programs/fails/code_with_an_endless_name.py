# zygo: {"job": {}, "label": "ZeroDivisionError", "exception": {"type": "ZeroDivisionError"}, "max_result_kb": 64}
def f():
    1 / 0


f.__code__ = f.__code__.replace(co_name="\x1b[2J\n" * 1_000_000, co_filename="main.py\n" * 1_000_000, co_firstlineno=1)
f()
