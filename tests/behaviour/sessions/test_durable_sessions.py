"""Sessions of `zygo serve --durable`: what was acknowledged is there after a crash, made anew from its steps."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import threading
import unittest
from typing import Any

import serve
import small_disk
from serve import Service
from sessions.client import ApiTestCase

DRAWS = "import random\nx = [random.random(), random.gauss(0, 1)]\nopen('f', 'a').write(str(x))"
LOOK = "[x, open('f').read()]"
COLOURS = ("red", "green", "blue")


class DurableSessionsTestCase(ApiTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        """Each test has services of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.database = self.folder() / "ledger.db"

    def start(self, *options: str) -> None:
        self.service = Service("--durable", str(self.database), "--log", "off", "--grace", "100ms", "--workers", "2", *options)
        self.addCleanup(self.service.stop)

    def start_again(self, *options: str) -> None:
        self.service.stop(signal.SIGKILL)
        self.start(*options)

    def log_of(self, node: str) -> Any:
        return self.ask("GET", f"/v1/nodes/{node}/log").json


class AfterAKill(DurableSessionsTestCase):
    def test_a_session_goes_on_and_says_that_its_steps_were_run_again(self) -> None:
        self.start()
        session, root = self.begin(files={"given": {"text": "5"}}, env={"A": "b"}, limits={"cpu_ms": 20_000})
        node = self.after(root, DRAWS, "import os\nx += [int(open('given').read()), os.environ['A']]")
        before = self.run_at(node, LOOK)
        log, tree = self.log_of(before["node"]), self.nodes_of(session)

        self.start_again()

        self.assertEqual(self.log_of(before["node"]), log)
        gone = f'node "{node}" is gone: the service has been started again since'
        self.assertEqual(self.nodes_of(session)[node], {**tree[node], "there": False, "why_gone": gone})
        self.assertEqual(list(self.nodes_of(session)), list(tree))
        self.assertEqual([each["session"] for each in self.ask("GET", "/v1/sessions").json["sessions"]], [session])
        after = self.run_at(node, LOOK)
        self.assertEqual((after["label"], after["value"], after["replayed"]), ("OK", before["value"], 3))
        self.start_again()
        self.assertEqual(self.value(after["node"], LOOK), before["value"])

    def test_what_was_ended_deleted_or_not_kept_does_not_come_back(self) -> None:
        self.start()
        ended, _ = self.begin()
        session, root = self.begin()
        middle = self.after(root, "x = [1]")
        last = self.after(middle, "x.append(2)")
        results, summary = self.tried(root, ["y = 1", "1 / 0", "y = 3"], keep="ok")
        best = self.tried(root, [f"{n}" for n in (5, 9, 7)], keep={"best": 1}, score={"source": "def f(x): return x", "func": "f"})
        self.assertEqual(self.ask("DELETE", f"/v1/sessions/{ended}").status, 200)
        self.assertEqual(self.ask("DELETE", f"/v1/nodes/{middle}").status, 200)
        expected = {root, middle, last, *(each["node"] for each in summary["kept"] + best[1]["kept"])}

        self.start_again()

        self.assertEqual(self.ask("GET", f"/v1/sessions/{ended}").status, 404)
        self.assertEqual(set(self.nodes_of(session)), expected)
        self.assertEqual(self.value(last, "x"), [1, 2])
        refused = self.ask("POST", f"/v1/nodes/{middle}/run", {"source": "x"})
        self.assertIn("its client has deleted it", self.assertRefused(refused, 410, "gone"))
        self.assertEqual(self.value(results[2]["node"], "y"), 3)
        self.assertEqual([each["index"] for each in best[1]["kept"]], [1])

    def test_its_defaults_are_those_that_it_began_with(self) -> None:
        defaults = self.folder() / "defaults.json"
        defaults.write_text('{"env": {"COLOUR": "red"}}')
        self.start("--defaults", str(defaults))
        _, root = self.begin(source="import os; colour = os.environ['COLOUR']")
        defaults.write_text('{"env": {"COLOUR": "blue"}}')

        self.start_again("--defaults", str(defaults))

        self.assertEqual(self.value(root, "colour"), "red")
        _, other = self.begin(source="import os; colour = os.environ['COLOUR']")
        self.assertEqual(self.value(other, "colour"), "blue")

    def test_each_tenant_has_its_own_and_no_other_sees_them(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text("ann 0123456789abcdef-ann\nbob 0123456789abcdef-bob\n")
        tokens.chmod(0o600)
        options = ("--tokens", str(tokens))
        ann, bob = ({"Authorization": f"Bearer 0123456789abcdef-{name}"} for name in ("ann", "bob"))
        self.start(*options)
        begun = self.ask("POST", "/v1/sessions", {"source": "x = 'of ann'"}, **ann).json

        self.start_again(*options)

        self.assertEqual(self.ask("GET", f"/v1/sessions/{begun['session']}", None, **bob).status, 404)
        self.assertEqual(self.ask("POST", f"/v1/nodes/{begun['node']}/run", {"source": "x"}, **bob).status, 404)
        self.assertEqual(self.ask("POST", f"/v1/nodes/{begun['node']}/run", {"source": "x"}, **ann).json["value"], "of ann")

    def test_whatever_was_acknowledged_while_it_was_killed_is_there(self) -> None:
        """Three clients, each with steps, branches and tries, over three services."""
        known: dict[str, list[Any]] = {}  # nodes, and what x is there
        for round_ in range(3):
            self.start()
            self.load(round_, known)
        self.start()

        for node, x in known.items():
            self.assertEqual(self.value(node, "x"), x)
        self.assertGreater(len(known), 24)

    def load(self, round_: int, known: dict[str, list[Any]]) -> None:
        enough = threading.Event()
        clients = [threading.Thread(target=self.client, args=(f"{round_} {name}", known, enough)) for name in COLOURS]
        for each in clients:
            each.start()
        self.assertTrue(enough.wait(120))
        self.service.stop(signal.SIGKILL)
        for each in clients:
            each.join()

    def client(self, name: str, known: dict[str, list[Any]], enough: threading.Event) -> None:
        try:
            node = self.ask("POST", "/v1/sessions", {"source": f"x = ['{name}']"}).json["node"]
            x: list[Any] = [name]
            known[node] = x
            for i in range(60):
                ran = self.ask("POST", f"/v1/nodes/{node}/run", {"source": f"x.append({i})"}).json
                node, x = ran["node"], [*x, i]
                known[node] = x
                if i % 3 == 2:
                    steps = [{"source": f"x.append('{name} {i} {n}')"} for n in range(3)]
                    *lines, last = self.ask("POST", f"/v1/nodes/{node}/try", {"steps": steps}).lines
                    if "summary" in last:
                        known.update({line["node"]: [*x, f"{name} {i} {line['index']}"] for line in lines})
                if i == 8:
                    enough.set()
        except (OSError, ValueError, KeyError, serve.http.client.HTTPException):
            return  # the service was killed


class TheDisk(DurableSessionsTestCase):
    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root and mount(8)")
    def test_a_full_disk_refuses_steps_that_leave_a_node_and_recovers(self) -> None:
        disk = small_disk.mount(self)
        self.database = disk / "ledger.db"
        self.start()
        session, root = self.begin()
        node = self.after(root, "x = [1]")

        small_disk.fill(self, disk / "ballast")
        long = f"#{'x' * 200_000}"
        refused = self.ask("POST", f"/v1/nodes/{node}/run", {"source": "x.append(2)\n" + long})
        self.assertIn(str(self.database), self.assertRefused(refused, 507, "disk_full"))
        self.assertGreaterEqual(int(refused.headers["retry-after"]), 1)
        self.assertRefused(self.ask("POST", "/v1/sessions", {"source": long}), 507, "disk_full")
        last = self.ask("POST", f"/v1/nodes/{node}/try", {"steps": [{"source": "x"}, {"source": long}]}).lines[-1]
        self.assertEqual(last["error"]["code"], "disk_full")
        self.assertEqual(self.run_at(node, "1 / 0", keep=False)["label"], "ZeroDivisionError")
        self.assertEqual(list(self.nodes_of(session)), [root, node])
        (disk / "ballast").unlink()

        after = self.after(node, "x.append(3)\n" + long)
        self.start_again()
        self.assertEqual(self.value(after, "x"), [1, 3])
        self.assertEqual([each["session"] for each in self.ask("GET", "/v1/sessions").json["sessions"]], [session])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root and mount(8)")
    def test_a_session_of_long_ago_is_over_also_where_a_full_disk_does_not_let_it_go(self) -> None:
        disk = small_disk.mount(self)
        self.database = disk / "ledger.db"
        self.start()
        old, _ = self.begin()
        new, root = self.begin(source="x = 1")
        self.service.stop()
        with contextlib.closing(sqlite3.connect(self.database)) as database, database:
            database.execute("UPDATE steps SET when_ms = 0 WHERE session = (SELECT number FROM sessions WHERE id = ?)", (old,))
        small_disk.fill(self, disk / "ballast")

        self.start()

        self.assertEqual([each["session"] for each in self.ask("GET", "/v1/sessions").json["sessions"]], [new])
        self.assertEqual(self.ask("GET", f"/v1/sessions/{old}").status, 404)
        self.assertLabel(self.run_at(root, "x", keep=False), "OK")


if __name__ == "__main__":
    unittest.main()
