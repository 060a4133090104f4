"""A TypeScript client that is generated from the service's document compiles without flags, and works."""

from __future__ import annotations

import json
import shutil

import npm
import zygo
from npm import NpmTestCase
from serve import Service

PROGRAM = zygo.CHECKOUT / "tests/data/typescript/client.ts"
# The generator, the few lines that it wants at run time, the compiler, and who validates such documents.


class TypeScript(NpmTestCase):
    packages = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3", "@seriousme/openapi-schema-validator@2.11.0")
    service: Service
    url: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = Service("--log", "off", ZYGO_HOME=str(cls.place / "home"))
        cls.addClassCleanup(cls.service.stop)
        cls.url = f"http://127.0.0.1:{cls.service.port}"

    def test_a_validator_finds_nothing(self) -> None:
        (self.place / "openapi.json").write_bytes(self.service.ask("GET", "/v1/openapi.json").body)
        self.assertTrue(json.loads(self.output_of("npx", "--no-install", "validate-api", "openapi.json"))["valid"])

    def test_a_client_is_generated_compiled_and_used(self) -> None:
        """As docs/http.md says, and with the settings that `tsc --init` writes, which are strict."""
        self.output_of("npx", "--no-install", "openapi-typescript", f"{self.url}/v1/openapi.json", "-o", "zygo.ts")
        shutil.copy(PROGRAM, self.place)
        self.output_of("npx", "--no-install", "tsc", "--init")
        self.output_of("npx", "--no-install", "tsc")
        told = json.loads(self.output_of("node", "client.js", self.url))

        self.assertEqual(told, {"label": "OK", "stdout": "42\n", "later": "OK", "refused": [400, "bad_job"],
                                "missing": [404, "no_job"], "metrics": 200})


if __name__ == "__main__":
    npm.main()
