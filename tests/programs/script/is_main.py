# zygo: {"label": "OK", "stdout": "__main__ True\n"}
import sys

print(__name__, sys.modules["__main__"].__dict__ is globals())
