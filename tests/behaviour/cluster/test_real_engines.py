"""`tools/test-cluster`: real engines, if their packages are here; the ARC set's beginning over pilots that they start."""

from __future__ import annotations

import json
import sys
import unittest

import host
import zygo
from zygo import ZygoTestCase

TRIAL = zygo.CHECKOUT / "tools/test-cluster"
LACKS = 77


class ARealSlurm(ZygoTestCase):
    def trial(self, *options: str) -> None:
        host.adopt_orphans()
        before = host.Snapshot.take()

        ended = zygo.run_command([sys.executable, "-B", str(TRIAL), "slurm", "--zygo", str(zygo.BINARY), "--limit", "160", "--json",
                                  *options], timeout=300)

        if ended.code == LACKS:
            self.skipTest(ended.stderr)
        self.assertEqual(ended.code, 0, ended.stdout + ended.stderr)
        report = json.loads(ended.out)
        self.assertEqual((report["pilots"], report["differences"], report["left"], report["problems"]), (4, 0, [], []))
        self.assertEqual(before.leftovers(), [])

    def test_starts_pilots_by_what_is_printed_and_ends_them(self) -> None:
        self.trial()

    def test_holds_pilots_to_their_cores_and_memory(self) -> None:
        self.trial("--constrain", "--memory", "1000")


if __name__ == "__main__":
    unittest.main()
