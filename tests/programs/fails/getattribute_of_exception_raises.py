# zygo: {"job": {}, "label": "Closed", "exception": {"type": "Closed"}}
class Closed(Exception):
    def __getattribute__(self, name):
        raise SystemExit(0)


raise Closed("x")
