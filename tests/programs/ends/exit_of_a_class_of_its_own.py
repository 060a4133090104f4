# zygo: {"job": {}, "label": "NonZeroExit", "detail": {"code": 4}}
# The code is the exception's own field, not what a property of the class says.
class Leave(SystemExit):
    code = property(lambda self: 0)


raise Leave(4)
