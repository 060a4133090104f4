"""`tools/graders/arc --url`: the ARC set by a service or a router, whose token lies in a file."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

import zygo
from serve import Service
from zygo import ZygoTestCase

ARC = zygo.CHECKOUT / "tools/graders/arc"
TOKEN = "a-token-of-a-grader"


class TheArcSet(ZygoTestCase):
    def test_is_graded_by_a_service_that_wants_a_token(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="behaviour-grader-"))
        tokens, own, wrong = (Path(folder, name) for name in ("tokens", "own", "wrong"))
        tokens.write_text(f"grader {TOKEN} jobs\n")
        tokens.chmod(0o600)
        own.write_text(TOKEN + "\n")
        wrong.write_text("another-token-of-whom\n")
        service = Service("--log", "off", "--tokens", str(tokens), ZYGO_HOME=folder + "/home")
        self.addCleanup(service.stop)
        command = [sys.executable, "-B", str(ARC), "--url", f"http://127.0.0.1:{service.port}", "--limit", "16", "--expected",
                   "--json", "--quiet"]
        good = zygo.run_command([*command, "--token-file", str(own)], timeout=120)
        refused = zygo.run_command([*command, "--token-file", str(wrong)], timeout=120)

        self.assertEqual((good.code, json.loads(good.out)["differences"]), (0, []), good.stderr)
        self.assertEqual(json.loads(good.out)["jobs"], 16)
        self.assertEqual((refused.code, refused.out), (2, b""))


if __name__ == "__main__":
    unittest.main()
