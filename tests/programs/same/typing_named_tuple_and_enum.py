# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [[1, 2, "int"]], "determinism": {"runs": 2, "same": true}}
import enum
import typing


class Colour(enum.Enum):
    RED = 1


class Pair(typing.NamedTuple):
    a: int
    b: int


def f(x):
    return [Colour.RED.value, Pair(1, 2).b, typing.get_type_hints(Pair)["a"].__name__]
