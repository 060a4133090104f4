# zygo: {"job": {}, "label": "Loud", "exception": {"type": "Loud"}, "max_result_kb": 128}
class Loud(Exception):
    def __str__(self):
        return "x" * 100_000_000


raise Loud
