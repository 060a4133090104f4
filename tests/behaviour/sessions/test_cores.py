"""Steps at nodes run on all cores, and leave room for the jobs of others."""

from __future__ import annotations

import os
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

from serve import Answer
from sessions.client import ApiTestCase

WHERE = "import os, time\ntime.sleep(0.3)\nsorted(os.sched_getaffinity(0))"


class Cores(ApiTestCase):
    options = ("--workers", "4")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "SKIPPED: one CPU")
    def test_steps_at_one_node_run_on_all_cores(self) -> None:
        _, root = self.begin()
        node = self.after(root, "x = [1]")
        for keep in ("all", "none"):
            with self.subTest(keep):
                lines, _ = self.tried(node, ["x.append(2)\n" + WHERE] * 16, keep=keep)
                for line in lines.values():
                    self.assertLabel(line, "OK")
                    self.assertEqual(line["session"]["kept"], keep == "all")
                self.assertGreaterEqual(len({tuple(line["value"]) for line in lines.values()}), 2)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "SKIPPED: one CPU")
    def test_what_was_left_on_another_core_is_gone_on_from(self) -> None:
        _, root = self.begin()
        node = self.after(root, "x = [1]\ndef f(): return sum(x)\nopen('a', 'w').write('1')")
        lines, _ = self.tried(node, [f"x.append({n}); open('a', 'a').write('{n}')\n" + WHERE for n in range(2, 10)])
        for n, line in zip(range(2, 10), (lines[i] for i in range(8))):
            again, _ = self.tried(line["node"], ["x.append(100)\n[f(), open('a').read(), os.sched_getaffinity(0) and x[1]]"] * 2)
            for each in again.values():
                self.assertEqual(each["value"], [101 + n, f"1{n}", n])


class CoresContained(Cores):
    options = ("--workers", "4", "--level", "contained")


class Neighbours(ApiTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(home.cleanup)
        tokens = Path(home.name, "tokens")
        tokens.write_text("ann ann-has-this-long-token\nbob bob-has-this-long-token\n")
        tokens.chmod(0o600)
        cls.options = ("--tokens", str(tokens), "--tenant-by", "token", "--workers", "8")
        super().setUpClass()

    def by(self, name: str, method: str, path: str, body: Any = None) -> Answer:
        return self.ask(method, path, body, Authorization=f"Bearer {name}-has-this-long-token")

    def test_many_slow_steps_at_one_node_leave_workers_to_others(self) -> None:
        root = self.by("ann", "POST", "/v1/sessions", {}).json["node"]
        over: list[str] = []
        steps = {"steps": [{"source": "import time\ntime.sleep(0.6)"}] * 48, "keep": "none"}

        def try_all() -> None:
            self.assertEqual(self.by("ann", "POST", f"/v1/nodes/{root}/try", steps).status, 200)
            over.append("ann")

        thread = threading.Thread(target=try_all)
        thread.start()
        for _ in range(4):
            done = self.by("bob", "POST", "/v1/jobs", {"source": "print(1)"})
            self.assertLabel(done.json, "OK")
        over.append("bob")
        thread.join()
        self.assertEqual(over, ["bob", "ann"])


if __name__ == "__main__":
    unittest.main()
