"""`tools/chaos` in small: every job has one verdict, whatever becomes of routers and pilots. No time is asserted."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from typing import Any

import zygo

CHAOS = zygo.CHECKOUT / "tools/chaos"
ACCIDENTS = {"kill pilot", "end pilot", "freeze pilot", "cut", "hold up", "kill router", "freeze router"}


def chaos(*arguments: str) -> dict[str, Any]:
    ended = subprocess.run([sys.executable, "-B", str(CHAOS), "--zygo", str(zygo.BINARY), "--json", *arguments],
                           capture_output=True, text=True, check=False, env=zygo.environment(), timeout=600 * zygo.PATIENCE)
    if ended.returncode not in (0, 1):
        raise AssertionError(ended.stderr)
    return json.loads(ended.stdout)


class Chaos(unittest.TestCase):
    def check(self, report: dict[str, Any], jobs: int) -> None:
        self.assertEqual(report["problems"], [])
        self.assertEqual((report["jobs"], report["verdicts"]), (jobs, jobs))
        self.assertLessEqual(set(report["accidents"]), ACCIDENTS)

    def test_two_routers(self) -> None:
        report = chaos("--jobs", "6000", "--pace", "0.5", "--seed", "5")
        self.check(report, 6000)
        self.assertEqual(set(report["ways"]), {"stream", "durable"})

    def test_a_router_alone(self) -> None:
        self.check(chaos("--jobs", "2000", "--routers", "1", "--pilots", "2", "--pace", "0.5"), 2000)


if __name__ == "__main__":
    unittest.main()
