# zygo: {"job": {}, "label": "RecursionError"}
class Endless:
    def __eq__(self, other):
        return self == other


Endless() == 1
