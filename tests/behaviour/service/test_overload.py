"""`tools/overload`: twice what a service can do, for a short while. No speed is asserted."""

from __future__ import annotations

import json
import sys
import unittest

import host
import zygo
from zygo import ZygoTestCase

OVERLOAD = zygo.CHECKOUT / "tools/overload"


def overload(*arguments: str) -> zygo.Finished:
    return zygo.run_command([sys.executable, "-B", str(OVERLOAD), "--zygo", str(zygo.BINARY), *arguments], timeout=120)


class AService(ZygoTestCase):
    def test_takes_what_it_can_refuses_the_rest_and_loses_nothing(self) -> None:
        host.adopt_orphans()
        before = host.Snapshot.take()

        # Jobs so long, and so many more than can be done, that it is an overload on a busy machine, too.
        ended = overload("--seconds", "8", "--times", "5", "--job-ms", "40", "--queue", "16", "--workers", "2",
                         "--json")

        report = json.loads(ended.out)
        self.assertEqual(ended.code, 1 if report["problems"] else 0, ended.stdout + ended.stderr)
        # How long they wait is the machine's affair here.
        self.assertLessEqual(set(report["problems"]), {"accepted jobs wait without bounds"})
        self.assertEqual((report["lost"], report["doubled"], report["wrong"]), (0, 0, 0))
        self.assertGreater(report["accepted"], 0)
        self.assertGreater(report["refused"], 0)
        self.assertEqual(report["offered"], report["accepted"] + report["refused"] + report["held_back"])
        self.assertEqual(set(report["statuses"]), {"200", "429"})
        self.assertEqual(before.leftovers(), [])

    def test_that_is_none_is_not_taken_for_one(self) -> None:
        ended = overload("--seconds", "1", "--times", "0.2", "--job-ms", "40", "--workers", "2")

        self.assertEqual(ended.code, 1, ended.stdout + ended.stderr)
        self.assertIn("! nothing was refused", ended.stdout)

    def test_needs_a_zygo(self) -> None:
        ended = overload("--zygo", "/nowhere")

        self.assertEqual(ended.code, 2)
        self.assertIn("/nowhere", ended.stderr)


if __name__ == "__main__":
    unittest.main()
