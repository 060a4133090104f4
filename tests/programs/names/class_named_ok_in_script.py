# zygo: {"label": "program.OK"}
class OK(BaseException):
    pass


raise OK
