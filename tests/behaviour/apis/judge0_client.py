"""A service with the API of Judge0 CE, and what its clients ask."""

from __future__ import annotations

import tempfile
import time
from typing import Any

from serve import Answer, Service
from zygo import ZygoTestCase

ANN = "0123456789abcdef-ann"
BOB = "fedcba9876543210-bob"
METER = "0011223344556677-meter"
PYTHON, C, CPP, EXECUTABLE, PLAIN_TEXT, PROJECT = 71, 50, 54, 44, 43, 89


class Judge0Case(ZygoTestCase):
    service: Service
    options: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-judge0-")
        cls.addClassCleanup(home.cleanup)
        tokens = cls.enterClassContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-"))
        tokens.write(f"ann {ANN} jobs,info\nbob {BOB} jobs,info\nmeter {METER} metrics\n")
        tokens.flush()
        cls.service = Service("--api", "judge0", "--log", "off", "--tokens", tokens.name, *cls.options, ZYGO_HOME=home.name)
        cls.service.metrics_token = METER
        cls.addClassCleanup(cls.service.stop)

    def ask(self, method: str, path: str, body: Any = None, key: str = ANN) -> Answer:
        return self.service.ask(method, path, body, {"X-Auth-Token": key, "Content-Type": "application/json"})

    def submit(self, source: str, language: int = PYTHON, query: str = "", **more: Any) -> Answer:
        return self.ask("POST", "/submissions" + query, {"source_code": source, "language_id": language} | more)

    def run_it(self, source: str, language: int = PYTHON, **more: Any) -> dict[str, Any]:
        answer = self.submit(source, language, "?wait=true", **more)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def get(self, token: str, query: str = "", key: str = ANN) -> Answer:
        return self.ask("GET", f"/submissions/{token}{query}", key=key)

    def ended(self, token: str, query: str = "") -> dict[str, Any]:
        """Polls, as all of its clients do."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            answer = self.get(token, "?fields=status_id")
            self.assertEqual(answer.status, 200, answer.body)
            if answer.json["status_id"] > 2:
                return self.get(token, query).json
            time.sleep(0.05)
        self.fail("the submission has not ended")

    def status(self, answer: dict[str, Any]) -> tuple[int, str]:
        return answer["status"]["id"], answer["status"]["description"]
