# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [{"x": 1, "y": 2}], "determinism": {"runs": 2, "same": true}}
import pickle
from dataclasses import asdict, dataclass


@dataclass
class Point:
    x: int
    y: int


def f(x):
    return asdict(pickle.loads(pickle.dumps(Point(x, 2))))
