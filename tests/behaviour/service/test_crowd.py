"""`tools/crowd` in small: hostile programs of every kind, and honest neighbours that must not notice. No time is asserted."""

from __future__ import annotations

import json
import os
import sys
import unittest
from dataclasses import asdict

import zygo
from zygo import ZygoTestCase

sys.path.insert(0, str(zygo.CHECKOUT / "tools"))
from benchmarks.lateness import lateness  # noqa: E402

CROWD = zygo.CHECKOUT / "tools/crowd"
LACKS = 77


def crowd(*arguments: str) -> zygo.Finished:
    return zygo.run_command([sys.executable, "-B", str(CROWD), "--zygo", str(zygo.BINARY), "--patience",
                             str(int(120 * zygo.PATIENCE)), *arguments], timeout=400)


class ACrowd(ZygoTestCase):
    def run_one(self, *arguments: str) -> tuple[int, dict]:
        ended = crowd("--json", *arguments)
        if ended.code == LACKS:
            self.skipTest(ended.stderr.strip())
        self.assertIn(ended.code, (0, 1), ended.stderr)
        return ended.code, json.loads(ended.out)

    def test_moves_no_honest_verdict_and_leaves_nothing(self) -> None:
        code, report = self.run_one("--hostile", "150", "--honest", "66", "--running", "12", "--seed", "5")

        for what in ("lost", "doubled", "moved", "wrong", "leftovers"):
            self.assertEqual(report[what], [], what)
        self.assertEqual((code, report["problems"]), (0, []))
        self.assertEqual(report["exit_code"], 0)
        ended = sum(count for labels in report["kinds"].values() for count in labels.values())
        self.assertEqual(ended, 216, "one verdict each")
        self.assertGreater(report["killed"], 0)
        self.assertEqual(sum(report["kinds"]["honest"].values()), 66)

    def test_that_is_disturbed_is_told(self) -> None:
        """A pool that does not do what it was asked to is no pool in which nothing happened."""
        liar = self.folder() / "zygo"
        liar.write_text(LIAR.format(python=sys.executable, zygo=str(zygo.BINARY)))
        liar.chmod(0o755)

        code, report = self.run_one("--zygo", str(liar), "--hostile", "4", "--honest", "12", "--running", "2")

        self.assertEqual(code, 1)
        self.assertEqual([len(report[what]) for what in ("lost", "moved", "wrong", "doubled")], [1, 1, 1, 1], report)
        self.assertTrue(report["leftovers"])
        self.assertEqual({job["id"] for job in report["faulty"]} & {"honest 1", "honest 2"}, {"honest 1", "honest 2"})

    def test_needs_a_zygo(self) -> None:
        self.assertEqual(crowd("--zygo", "/nowhere").code, 2)

    @unittest.skipUnless(os.geteuid() == 0, "only root can stop being root")
    def test_needs_a_fence(self) -> None:
        ended = zygo.run_command(["setpriv", "--reuid", "65534", sys.executable, "-B", str(CROWD), "--zygo", "/bin/true"])

        self.assertEqual(ended.code, LACKS, ended.stderr)
        self.assertIn("--no-fence", ended.stderr)


class Lateness(unittest.TestCase):
    """Of a kill, from results."""

    def test_is_counted_from_the_deadline_that_waiting_for_a_cpu_has_moved(self) -> None:
        result = {"label": "TimeoutException", "detail": {"limit": "wall", "limit_ms": 300, "waited_ms": 2_000},
                  "usage": {"stopped_us": 2_301_500, "wall_us": 2_305_000}}
        self.assertEqual(asdict(lateness(result)), {"kill_ms": 1.5, "reap_ms": 3.5, "ended_ms": 5.0})
        del result["detail"]["waited_ms"]
        self.assertEqual(lateness(result).kill_ms, 2001.5)

    def test_is_that_of_the_reaping_where_no_kill_was_needed(self) -> None:
        result = {"label": "TimeoutException", "detail": {"limit": "wall", "limit_ms": 300}, "usage": {"wall_us": 304_000}}
        self.assertEqual(asdict(lateness(result)), {"kill_ms": None, "reap_ms": 4.0, "ended_ms": 4.0})

    def test_is_nothing_of_a_program_that_met_no_deadline(self) -> None:
        usage = {"stopped_us": 1, "wall_us": 2}
        self.assertIsNone(lateness({"label": "OK", "detail": None, "usage": usage}))
        self.assertIsNone(lateness({"label": "TimeoutException", "detail": {"limit": "cpu", "limit_ms": 1}, "usage": usage}))


# Runs zygo, and of what the crowd is told loses a verdict, changes one of each sort and repeats one; and it leaves
# a file and a process behind.
LIAR = """#!{python}
import json, os, subprocess, sys
child = subprocess.Popen(["{zygo}", *sys.argv[1:]], stdout=subprocess.PIPE)
open(os.environ["TMPDIR"] + "/left", "w").close()
wronged = False
for line in child.stdout:
    result = json.loads(line)
    name = result["id"]
    if name == "honest 1":
        continue
    if name == "honest 2":
        result["stdout"]["text"] += " "
    if not name.startswith(("honest", "alone", "again")) and not wronged:
        wronged, result["label"] = True, "SandboxError"
    for _ in range(2 if name == "honest 3" else 1):
        sys.stdout.write(json.dumps(result) + "\\n")
        sys.stdout.flush()
if os.fork() == 0:
    os.close(1)
    os.setsid()
    import time
    time.sleep(600)
"""

if __name__ == "__main__":
    unittest.main()
