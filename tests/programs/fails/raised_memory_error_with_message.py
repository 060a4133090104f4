# zygo: {"label": "MemoryError", "exception": {"message": "enough"}}
raise MemoryError("enough")
