# zygo: {"label": "Signalled", "exit": {"code": null, "signal": "SIGSEGV"}}
import ctypes

ctypes.string_at(0)
