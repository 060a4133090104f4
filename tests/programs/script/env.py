# zygo: {"job": {"env": {"GREETING": "hello", "EMPTY": ""}}, "label": "OK", "stdout": "hello|\n"}
import os

print(os.environ["GREETING"], os.environ["EMPTY"], sep="|")
