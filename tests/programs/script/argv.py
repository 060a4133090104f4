# zygo: {"job": {"argv": ["one", "two words", ""]}, "label": "OK", "stdout": "['one', 'two words', '']\n"}
import sys

print(sys.argv[1:])
