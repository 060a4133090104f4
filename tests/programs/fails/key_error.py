# zygo: {"label": "KeyError", "exception": {"type": "KeyError", "message": "colour"}, "stderr": "Traceback"}
{}["colour"]
