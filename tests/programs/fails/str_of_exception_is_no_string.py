# zygo: {"job": {}, "label": "Odd", "exception": {"type": "Odd", "message": "unprintable"}}
class Odd(Exception):
    def __str__(self):
        return 7


raise Odd
