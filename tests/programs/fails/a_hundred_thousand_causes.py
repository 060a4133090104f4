# zygo: {"job": {}, "label": "ValueError", "exception": {"type": "ValueError", "message": "99999"}, "max_result_kb": 64}
last = None
for number in range(100_000):
    error = ValueError(str(number))
    error.__cause__ = last
    last = error
raise last
