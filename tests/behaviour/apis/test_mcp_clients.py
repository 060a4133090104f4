"""Real clients of the Model Context Protocol, the SDK's and the inspector's, work over both transports."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import npm
import zygo
from serve import Service
from zygo import ZygoTestCase

SKIPPED = 77  # What ctest takes for a skipped test.
PROGRAM = zygo.CHECKOUT / "tests/data/mcp/client.mjs"
PACKAGES = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/inspector-cli@0.15.0")
TOOLS = ["read_file", "run_program", "run_python", "try_many", "undo", "write_file"]


class Clients(ZygoTestCase):
    place: Path
    service: Service
    url: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="behaviour-mcp-")
        cls.addClassCleanup(folder.cleanup)
        cls.place = Path(folder.name)
        if why := npm.install(cls.place, *PACKAGES):
            print(f"SKIPPED: {why}", file=sys.stderr)
            sys.exit(SKIPPED)
        shutil.copy(PROGRAM, cls.place)
        cls.service = Service("--api", "mcp", "--log", "off")
        cls.addClassCleanup(cls.service.stop)
        cls.url = f"http://127.0.0.1:{cls.service.port}/mcp"

    def do(self, *command: str) -> Any:
        ended = npm.run(self.place, *command)
        self.assertEqual(ended.returncode, 0, f"{' '.join(command)}:\n{ended.stdout}\n{ended.stderr}")
        return json.loads(ended.stdout)

    def check(self, seen: dict[str, Any]) -> None:
        self.assertEqual(sorted(seen.pop("tools")), TOOLS)
        # The SDK hears notifications a turn later than answers: progress that is read together with its answer is an error to it.
        late = [int(found[1]) for error in seen.pop("errors") if (found := re.search(r'unknown token: .*"progress":(\d+)', error) or self.fail(error))]
        self.assertEqual(seen.pop("progress") + late, [0, 1, 2])
        self.assertEqual(seen, {
            "server": "zygo", "value": "[1, 2]", "failed": True, "tried": ["[1, 3]", "[1, 4]", None], "kept": "[1, 5]", "undone": "[1]",
            "file": "written", "program": "from bash\n", "cancelled": True, "after": "[1]"})

    def test_the_sdk_over_stdio(self) -> None:
        self.check(self.do("node", "client.mjs", "stdio", str(zygo.BINARY), "mcp"))

    def test_the_sdk_over_http(self) -> None:
        self.check(self.do("node", "client.mjs", "http", self.url))

    def inspect(self, *server: str) -> None:
        inspector = ("node", "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js", "--cli", *server)
        listed = self.do(*inspector, "--method", "tools/list")
        self.assertEqual(sorted(tool["name"] for tool in listed["tools"]), TOOLS)
        called = self.do(*inspector, "--method", "tools/call", "--tool-name", "run_python", "--tool-arg", "code=6 * 7")
        self.assertEqual(called["structuredContent"]["value"], "42")

    def test_the_inspector_over_stdio(self) -> None:
        self.inspect(str(zygo.BINARY), "mcp")

    def test_the_inspector_over_http(self) -> None:
        self.inspect(self.url, "--transport", "http")


if __name__ == "__main__":
    if lack := npm.missing():
        print(f"SKIPPED: {lack}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
