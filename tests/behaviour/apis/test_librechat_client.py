"""The tools by which LibreChat's agents run code work with LibreChat's API of a service."""

from __future__ import annotations

import json
import shutil
import tempfile
from typing import Any

import npm
import zygo
from npm import NpmTestCase
from serve import Service

KEY = "0123456789abcdef-key"
AGENTS = "@librechat/agents@3.2.21"
PROGRAM = zygo.CHECKOUT / "tests/data/librechat/client.mjs"


class Agents(NpmTestCase):
    # Of the hundreds of packages that the agents depend on, those that these two tools import.
    packages = ("@langchain/core@1.1.44", "dotenv@16", "https-proxy-agent@7", "node-fetch@2")
    seen: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.fetch("pack", AGENTS)
        cls.output_of("tar", "xf", *[each.name for each in cls.place.glob("librechat-agents-*.tgz")])
        shutil.copy(PROGRAM, cls.place)
        tokens = cls.enterClassContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-"))
        tokens.write(f"chat {KEY} jobs,blobs\n")
        tokens.flush()
        service = Service("--api", "librechat", "--log", "off", "--tokens", tokens.name, ZYGO_HOME=str(cls.place / "home"))
        cls.addClassCleanup(service.stop)
        url = f"http://127.0.0.1:{service.port}"
        cls.seen = json.loads(cls.output_of("node", PROGRAM.name, KEY, LIBRECHAT_CODE_BASEURL=url))

    def test_what_a_program_prints_is_told(self) -> None:
        self.assertEqual(self.seen["printed"], ["stdout:\n42 ['a']", []])
        self.assertIn("stdout: Empty.", self.seen["silent"])

    def test_a_traceback_is_told(self) -> None:
        self.assertIn('stderr:\nTraceback (most recent call last):\n  File "main.py", line 1', self.seen["failed"])
        self.assertIn("ZeroDivisionError: division by zero", self.seen["failed"])

    def test_files_are_told_and_go_on_to_the_next_call(self) -> None:
        content, names = self.seen["made"]
        self.assertEqual(names, ["data.csv", "plot.png"])
        self.assertIn("2 persisted file(s) are available in /mnt/data, including 1 image(s)", content)
        self.assertEqual(self.seen["read"], [["stdout:", "1,2"], [["data.csv", False], ["plot.png", True]]])

    def test_a_refusal_names_its_reason(self) -> None:
        self.assertRegex(self.seen["refused"], r'POST http://.*/exec returned 400, body: \{"error":"the language ts is not offered here"\}')


if __name__ == "__main__":
    npm.main()
