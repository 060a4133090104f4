# zygo: {"job": {"stdin": "a\u00e9\nb"}, "label": "OK", "stdout": "['a\u00e9\\n', 'b']\n"}
import sys

print(sys.stdin.readlines())
