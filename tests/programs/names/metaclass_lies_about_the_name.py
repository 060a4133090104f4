# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "labels": ["Plain", "program.OK"]}
# Either name may be shown, but the lie can never become OK.
class Liar(type):
    @property
    def __name__(cls):
        return "OK"


class Plain(Exception, metaclass=Liar):
    pass


def f(x):
    raise Plain
