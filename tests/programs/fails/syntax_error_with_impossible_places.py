# zygo: {"job": {}, "label": "SyntaxError", "exception": {"type": "SyntaxError"}, "max_result_kb": 64}
raise SyntaxError("made up", ("f" * 100_000, 10 ** 18, -(10 ** 18), "t" * 1_000_000, -5, 10 ** 40))
