"""The oracle of sessions: in random trees of steps each node is what a run of all its steps in one process is."""

from __future__ import annotations

import os
import random
import signal
import unittest
from concurrent.futures import ThreadPoolExecutor

import host
import zygo
from serve import Service
from sessions.client import ApiTestCase, ServiceTestCase, SessionTestCase

SEED = int(os.environ.get("ZYGO_SEED", "0")) or 20261127
STEPS = int(os.environ.get("ZYGO_STEPS", "152"))
AT_ONCE = 4

FIRST = """
import os, random, collections, itertools
random.seed(11)
box = {'list': [], 'text': '', 'dict': {}}
class Node:
    def __init__(self, depth): self.depth, self.children = depth, []
root = Node(0)
counter = itertools.count()
draws = (random.random() for _ in itertools.count())
log = open('log', 'w')
os.mkdir('work')
"""
# Templates of steps; {n} is a number of the step's own.
CHANGES = (
    "box['list'].append({n})",
    "box['list'] = [x * 2 for x in box['list']][-50:]",
    "box['text'] += 'a{n}' * 1000",
    "box['text'] = box['text'][len(box['text']) // 2:]",
    "box['dict'][{n}] = bytes([{n} % 256]) * 300_000",
    "box['dict'].clear()",
    "box['draw'] = random.random()",
    "box['next'] = next(counter), next(draws)",
    "root.children.append(Node({n})); root = root.children[0] if {n} % 5 == 0 else root",
    "log.write('{n} '); log.flush()",
    "log.write('{n}' * 500)",
    "open('work/{n}', 'w').write(str({n}))",
    "os.makedirs('work/d{n}/e', exist_ok=True); os.rename('work/d{n}', 'work/r{n}')",
    "[os.unlink(e.path) for e in os.scandir('work') if e.is_file()][:1]",
    "def f{n}(x, kept=box['list']): return x + len(kept) + {n}\nbox['f'] = f{n}(1)",
    "import decimal; box['decimal'] = str(decimal.Decimal({n}) / 7)",
    "import sqlite3; db = sqlite3.connect(':memory:'); db.execute('create table t (x)'); db.execute('insert into t values ({n})')",
    "box['row'] = db.execute('select * from t').fetchall()[0][0]",
    "box['list'][{n}]",
    "box['list'].append({n}); raise KeyError({n})",
    "box['set'] = {{str(i) for i in range({n} % 50)}}",
    "box['deep'] = (lambda f, n: f(f, n))(lambda f, n: n and 1 + f(f, n - 1), 300)",
    "os.environ['STEP'] = '{n}'; os.chdir('work') if os.getcwd() == '/tmp' and {n} % 7 == 0 else os.chdir('/tmp')",
)
LOST = ("while True: pass", "box['list'] = bytearray(1 << 31)", "import os; os._exit(3)", "import socket; socket.socket()")
# The state in one text.
LOOK = """
import os, hashlib, random
def look():
    def tree(node): return [node.depth, [tree(child) for child in node.children]]
    files = []
    for folder, folders, names in os.walk('/tmp'):
        folders.sort()
        files.append(folder)
        files += [(name, open(os.path.join(folder, name)).read()) for name in sorted(names)]
    state = (sorted((k, sorted(v) if isinstance(v, set) else v) for k, v in box.items()), tree(root), log.tell(), files,
             os.getcwd(), os.environ.get('STEP'), random.random(), next(counter), next(draws), sorted(n for n in globals() if n[0] == 'f'))
    return hashlib.sha256(repr(state).encode()).hexdigest()
look()
"""
STRAIGHT = """
import sys
def main(steps):
    names = sys.modules['__main__'].__dict__
    for step in steps[:-1]:
        try:
            exec(compile(step, 'step', 'exec'), names)
        except Exception:
            pass
    exec(compile(steps[-1].rsplit('\\n', 2)[0], 'step', 'exec'), names)
    names['log'].flush()
    print(names['look']())
main({steps!r})
"""


def plan(chance: random.Random, nodes: list[str], number: int) -> tuple[str, str]:
    """The next step: where it is run, and its source."""
    parent = chance.choice(nodes[-12:] if chance.random() < 0.7 else nodes)
    return parent, chance.choice(LOST) if chance.random() < 0.08 else chance.choice(CHANGES).format(n=number)


def limits_of(source: str) -> dict[str, object]:
    return {"limits": {"cpu_ms": 200}} if source in LOST else {}


def in_one_process(test: ServiceTestCase, sources: list[str]) -> str:
    straight = test.service.run(STRAIGHT.format(steps=[*sources, "log.flush()\n" + LOOK]))
    test.assertLabel(straight, "OK")
    return str(straight["stdout"]["text"].strip())


class Trees(SessionTestCase):
    options = ("--nodes-memory", "8G")

    def kill_a_cell(self, chance: random.Random) -> None:
        """Nodes live in none."""
        cells = [cell for template in host.templates_of(self.service.process.pid) for cell in host.children(template)]
        if cells:
            host.kill_and_await(chance.choice(sorted(cells)))

    def change(self, parent: str, source: str) -> zygo.Result:
        return self.step(parent, source, **limits_of(source))

    def test_each_node_is_what_a_run_of_its_steps_is(self) -> None:
        chance = random.Random(SEED)
        log: dict[str, list[str]] = {self.node("", FIRST): [FIRST]}
        with ThreadPoolExecutor(AT_ONCE) as side_by_side:  # so that they run on several cores
            for first in range(0, STEPS, AT_ONCE):
                if chance.random() < 0.16:
                    self.kill_a_cell(chance)
                plans = [plan(chance, list(log), number) for number in range(first, first + AT_ONCE)]
                for (parent, source), result in zip(plans, side_by_side.map(lambda plan: self.change(*plan), plans)):
                    if source in LOST:
                        self.assertEqual((result["session"]["kept"], result["session"]["node"]), (False, parent), result)
                        continue
                    self.assertTrue(result["session"]["kept"], (source, result["label"], result["session"], result["detail"]))
                    log[result["session"]["node"]] = [*log[parent], source]
        for node in chance.sample(list(log), min(len(log), 40)):
            with self.subTest(steps=log[node][1:]):
                self.assertEqual(self.value(node, "log.flush()\n" + LOOK), in_one_process(self, log[node]))


class OverRestarts(ApiTestCase):
    """Of a durable session: templates and the service are killed between its steps."""

    @classmethod
    def setUpClass(cls) -> None:
        """The test starts its services itself."""

    def start(self) -> None:
        self.service = Service("--durable", str(self.database), "--log", "off", "--workers", "2")
        self.addCleanup(self.service.stop)

    def disturb(self, chance: random.Random) -> None:
        if chance.random() < 0.5:
            self.service.stop(signal.SIGKILL)
            self.start()
            return
        for template in host.templates_of(self.service.process.pid):
            host.kill_and_await(template)

    def test_each_node_is_what_a_run_of_its_steps_is(self) -> None:
        self.database = self.folder() / "ledger.db"
        self.start()
        chance = random.Random(SEED)
        _, root = self.begin(source=FIRST)
        log = {root: [FIRST]}
        for number in range(STEPS // 4):
            if number % 8 == 5:
                self.disturb(chance)
            parent, source = plan(chance, list(log), number)
            result = self.run_at(parent, source, **limits_of(source))
            if source in LOST:
                self.assertEqual(result["node"], parent)
            else:
                log[result["node"]] = [*log[parent], source]
        self.service.stop(signal.SIGKILL)
        self.start()

        for node in chance.sample(list(log), min(len(log), 8)):
            with self.subTest(steps=log[node][1:]):
                self.assertEqual(self.value(node, "log.flush()\n" + LOOK), in_one_process(self, log[node]))


if __name__ == "__main__":
    unittest.main()
