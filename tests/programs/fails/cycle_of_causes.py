# zygo: {"job": {}, "label": "ValueError", "exception": {"type": "ValueError", "message": "first"}, "max_result_kb": 64}
first, second = ValueError("first"), KeyError("second")
first.__cause__, second.__cause__ = second, first
raise first
