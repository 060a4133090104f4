# zygo: {"job": {}, "label": "Exception", "exception": {"type": "", "message": "x"}}
raise type("", (Exception,), {})("x")
