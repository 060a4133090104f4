# zygo: {"label": "ValueError", "stdout": "goodbye\n"}
import atexit

atexit.register(print, "goodbye")
raise ValueError
