# zygo: {"job": {}, "label": "E", "exception": {"type": "E"}, "max_result_kb": 64}
class Meta(type):
    __module__ = property(lambda cls: "builtins")
    __name__ = property(lambda cls: "OK")


class E(Exception, metaclass=Meta):
    pass


raise E("x")
