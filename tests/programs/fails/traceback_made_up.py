# zygo: {"job": {}, "label": "ValueError", "exception": {"type": "ValueError"}, "max_result_kb": 64}
import sys
import types

made = None
for number in range(50_000):
    made = types.TracebackType(made, sys._getframe(), 2 ** 31 - 2, -(2 ** 31) + number)
raise ValueError("x").with_traceback(made)
