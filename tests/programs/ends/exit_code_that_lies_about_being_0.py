# zygo: {"job": {}, "label": "NonZeroExit", "detail": {"code": 3}}
import sys


class Three(int):
    def __eq__(self, other):
        return True

    def __index__(self):
        return 0

    __hash__ = int.__hash__
    __int__ = __index__


sys.exit(Three(3))
