from dataclasses import dataclass

import zygo


@dataclass
class Score:
    name: str
    points: float


def score(name):
    if not name:
        raise ValueError("a name, please")
    return Score(name, len(name) / 2)


with zygo.Executor(max_workers=4, types=[Score]) as executor:
    print(list(executor.map(score, ["ada", "grace"])))
    failing = executor.submit(score, "")
    print(type(failing.exception()).__name__, failing.exception())
