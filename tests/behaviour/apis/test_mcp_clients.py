"""Real clients of the Model Context Protocol, the SDK's and the inspector's, work over both transports."""

from __future__ import annotations

import json
import re
import shutil
from typing import Any

import npm
import zygo
from npm import NpmTestCase
from serve import Service

PROGRAM = zygo.CHECKOUT / "tests/data/mcp/client.mjs"
TOOLS = ["read_file", "run_program", "run_python", "try_many", "undo", "write_file"]


class Clients(NpmTestCase):
    packages = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/inspector-cli@0.15.0")
    service: Service
    url: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        shutil.copy(PROGRAM, cls.place)
        cls.service = Service("--api", "mcp", "--log", "off")
        cls.addClassCleanup(cls.service.stop)
        cls.url = f"http://127.0.0.1:{cls.service.port}/mcp"

    def do(self, *command: str) -> Any:
        return json.loads(self.output_of(*command))

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
    npm.main()
