# zygo: {"job": {}, "label": "UnicodeDecodeError", "exception": {"type": "UnicodeDecodeError"}}
raise UnicodeDecodeError("x" * 1000, b"", -(2 ** 62), 2 ** 62, "because")
