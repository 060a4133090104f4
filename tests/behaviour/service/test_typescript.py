"""A TypeScript client that is generated from the service's document compiles without flags, and works."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import npm
import zygo
from serve import Service
from zygo import ZygoTestCase

SKIPPED = 77  # What ctest takes for a skipped test.
PROGRAM = zygo.CHECKOUT / "tests/data/typescript/client.ts"
# The generator, the few lines that it wants at run time, the compiler, and who validates such documents.
PACKAGES = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3",
            "@seriousme/openapi-schema-validator@2.11.0")


class TypeScript(ZygoTestCase):
    place: Path
    service: Service
    url: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="behaviour-typescript-")
        cls.addClassCleanup(folder.cleanup)
        cls.place = Path(folder.name)
        if why := npm.install(cls.place, *PACKAGES):
            print(f"SKIPPED: {why}", file=sys.stderr)
            sys.exit(SKIPPED)
        cls.service = Service("--log", "off", ZYGO_HOME=str(cls.place / "home"))
        cls.addClassCleanup(cls.service.stop)
        cls.url = f"http://127.0.0.1:{cls.service.port}"

    def do(self, *command: str) -> str:
        ended = npm.run(self.place, *command)
        self.assertEqual(ended.returncode, 0, f"{' '.join(command)}:\n{ended.stdout}\n{ended.stderr}")
        return ended.stdout

    def test_a_validator_finds_nothing(self) -> None:
        (self.place / "openapi.json").write_bytes(self.service.ask("GET", "/v1/openapi.json").body)
        self.assertTrue(json.loads(self.do("npx", "--no-install", "validate-api", "openapi.json"))["valid"])

    def test_a_client_is_generated_compiled_and_used(self) -> None:
        """As docs/http.md says, and with the settings that `tsc --init` writes, which are strict."""
        self.do("npx", "--no-install", "openapi-typescript", f"{self.url}/v1/openapi.json", "-o", "zygo.ts")
        shutil.copy(PROGRAM, self.place)
        self.do("npx", "--no-install", "tsc", "--init")
        self.do("npx", "--no-install", "tsc")
        told = json.loads(self.do("node", "client.js", self.url))

        self.assertEqual(told, {"label": "OK", "stdout": "42\n", "later": "OK", "refused": [400, "bad_job"],
                                "missing": [404, "no_job"], "metrics": 200})


if __name__ == "__main__":
    if why := npm.missing():
        print(f"SKIPPED: {why}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
