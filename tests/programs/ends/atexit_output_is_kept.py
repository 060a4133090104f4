# zygo: {"label": "OK", "stdout": "body\ngoodbye\n"}
import atexit

atexit.register(print, "goodbye")
print("body")
