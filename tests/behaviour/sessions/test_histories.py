"""Random histories of steps: each step finds what a plain interpreter would find that ran the same steps in a row.

ZYGO_SEED is the first seed, and ZYGO_HISTORIES how many there are, for longer runs by hand.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from typing import Any, ClassVar

from sessions.client import SessionTestCase
from sessions.honest_actions import BEGINNINGS, DRAWS, FIRST, MEMORY, NUMPY, OTHERS

NUMPY_IS_THERE = importlib.util.find_spec("numpy") is not None
PLAIN = """
import ast, json, os, sys
os.umask(0o22)
names, values = {"__name__": "__main__"}, []
for source in json.load(sys.stdin):
    *rest, last = ast.parse(source).body
    exec(compile(ast.Module(rest, []), "step", "exec"), names)
    values.append(eval(compile(ast.Expression(last.value), "step", "eval"), names))
print(json.dumps(values))
"""


class History:
    """Steps, each behind an earlier one: mostly the last."""

    def __init__(self, seed: int, length: int, has_numpy: bool) -> None:
        self.chance = random.Random(seed)
        self.kinds = {**MEMORY, **OTHERS, **(NUMPY if has_numpy else {})}
        self.chosen = [*self.chance.sample(list(MEMORY), 5), *self.chance.sample(list(self.kinds), 6), *(NUMPY if has_numpy else [])]
        self.parents: list[int | None] = [None]
        self.sources = [f"{FIRST}\n{self.code(self.chance.choice(BEGINNINGS), '')}\n0"]
        objects: list[dict[str, str]] = [{}]  # kinds by names, at each node
        for i in range(1, length):
            parent = i - 1 if self.chance.random() < 0.85 else self.chance.randrange(i)
            there = dict(objects[parent])
            code = [self.action(there, i) for _ in range(self.chance.randrange(1, 7))]
            checks = [self.code(self.kinds[kind].check, name) for name, kind in there.items()]
            self.parents.append(parent)
            self.sources.append("\n".join([*code, f"repr([{', '.join([*checks, 'tree()'])}])"]))
            objects.append(there)

    def action(self, there: dict[str, str], step: int) -> str:
        if len(there) < 3 or (len(there) < 14 and self.chance.random() < 0.4):
            chosen = self.chance.choice(self.chosen)
            name = f"{chosen}{step}_{self.chance.randrange(10_000)}x".replace(" ", "_")
            there[name] = chosen
            return self.code(self.kinds[chosen].make, name)
        name = self.chance.choice(list(there))
        kind = self.kinds[there[name]]
        if self.chance.random() < 0.8:
            return self.code(self.chance.choice(kind.changes), name)
        del there[name]
        return self.code(f"{kind.end}\nfor each in [each for each in globals() if each.startswith('$x')]: del globals()[each]", name)

    def code(self, code: str, name: str) -> str:
        drawn = {each: str(draw(self.chance)) for each, draw in DRAWS.items()}
        return re.sub(r"\$(\w+)", lambda found: drawn.get(found[1]) or (name if found[1] == "x" else f"{name}_{found[1]}"), code)

    def path(self, at: int | None) -> list[int]:
        return [] if at is None else [*self.path(self.parents[at]), at]

    def leaves(self) -> list[int]:
        return [at for at in range(len(self.parents)) if at not in self.parents]


def plain_values(sources: list[str]) -> list[Any]:
    """What a plain interpreter finds at the end of each of these steps."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", PLAIN], input=json.dumps(sources), cwd=folder, capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"})
    if done.returncode != 0:
        raise AssertionError(f"no honest steps: {done.stderr}")
    values: list[Any] = json.loads(done.stdout)
    return values


class Histories(SessionTestCase):
    seeds = range(1, 6)
    limits: ClassVar[dict[str, int]] = {"memory_mb": 1024, "cpu_ms": 60_000, "wall_ms": 120_000}

    def test_a_session_is_an_interpreter_that_never_stopped(self) -> None:
        first = int(os.environ.get("ZYGO_SEED", self.seeds[0]))
        for seed in range(first, first + int(os.environ.get("ZYGO_HISTORIES", len(self.seeds)))):
            has_numpy = seed % 3 == 0 and NUMPY_IS_THERE
            with self.subTest(seed=seed):
                self.compare(History(seed, 12, has_numpy), "python-numpy" if has_numpy else "python")

    def compare(self, history: History, template: str) -> None:
        plain: dict[int, Any] = {}
        for leaf in history.leaves():
            path = history.path(leaf)
            plain.update(zip(path, plain_values([history.sources[i] for i in path])))
        nodes: list[str] = []
        for i, (parent, source) in enumerate(zip(history.parents, history.sources)):
            story = "\n".join(f"# step {j}\n{history.sources[j]}" for j in history.path(i)[1:])
            result = self.step("" if parent is None else nodes[parent], source, template=template, limits=self.limits)
            session = result["session"]
            found = (result["label"], result.get("exception"), session.get("why_not"), result["value"])
            self.assertEqual(found, ("OK", None, None, plain[i]), story)
            self.assertTrue(session["kept"], story)
            nodes.append(session["node"])


class HistoriesCompared(Histories):
    """What the kernel says was not written to is compared all the same."""

    options = ("--verify-rollback",)
    seeds = range(21, 24)


class HistoriesComparedAnew(Histories):
    options = ("--verify-rollback", "--steps-stay", "none")
    seeds = range(31, 34)


class HistoriesContained(Histories):
    options = ("--level", "contained")
    seeds = range(4, 6)


class HistoriesMinimal(Histories):
    options = ("--level", "minimal")
    seeds = range(14, 16)


if __name__ == "__main__":
    unittest.main()
