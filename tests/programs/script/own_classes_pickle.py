# zygo: {"label": "OK", "stdout": "Point(x=1, y=2)\n"}
import pickle
from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int


print(pickle.loads(pickle.dumps(Point(1, 2))))
