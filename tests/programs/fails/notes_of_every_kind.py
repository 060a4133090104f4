# zygo: {"job": {}, "label": "ValueError", "exception": {"type": "ValueError"}, "max_result_kb": 64}
error = ValueError("noted")
error.__notes__ = ["x" * 1_000_000, 7, None, "\x1b]0;owned\x07\n" * 1000, *["n"] * 10_000]
raise error
