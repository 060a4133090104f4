# zygo: {"label": "OK", "stdout": "", "exit": {"code": 0, "signal": null}}

