# zygo: {"label": "Signalled", "exit": {"code": null, "signal": "SIGABRT"}}
import os

os.abort()
