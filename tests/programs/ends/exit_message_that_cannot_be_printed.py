# zygo: {"job": {}, "label": "NonZeroExit", "detail": {"code": 1}}
import sys


class Message:
    def __str__(self):
        raise ValueError("never")


sys.exit(Message())
