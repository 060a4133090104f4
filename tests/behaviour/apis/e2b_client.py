"""A client of E2B's API in plain HTTP, and the service that it speaks with."""

from __future__ import annotations

import base64
import json
import struct
import tempfile
from dataclasses import dataclass, field
from typing import Any

from serve import Answer, Service
from zygo import ZygoTestCase

ANN = "0123456789abcdef-ann"
BOB = "fedcba9876543210-bob"


def envelope(message: Any) -> bytes:
    data = json.dumps(message).encode()
    return struct.pack(">BI", 0, len(data)) + data


def messages_in(stream: bytes) -> list[tuple[int, Any]]:
    """Flags and message of each envelope."""
    messages = []
    while stream:
        flags, size = struct.unpack(">BI", stream[:5])
        messages.append((flags, json.loads(stream[5:5 + size])))
        stream = stream[5 + size:]
    return messages


@dataclass
class Execution:
    results: list[dict[str, Any]] = field(default_factory=list)
    stdout: str = ""
    stderr: str = ""
    error: dict[str, Any] | None = None
    count: int | None = None

    @property
    def text(self) -> str | None:
        return next((result["text"] for result in self.results if result["is_main_result"]), None)


class E2bCase(ZygoTestCase):
    service: Service
    apis: tuple[str, ...] = ("--api", "e2b")
    options: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-e2b-")
        cls.addClassCleanup(home.cleanup)
        tokens = cls.enterClassContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-"))
        tokens.write(f"ann {ANN} jobs,info\nbob {BOB} jobs,info\n")
        tokens.flush()
        cls.service = Service(*cls.apis, "--log", "off", "--tokens", tokens.name, *cls.options, ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def ask(self, method: str, path: str, body: Any = None, key: str = ANN) -> Answer:
        return self.service.ask(method, path, body, {"X-API-Key": key, "Content-Type": "application/json"}, timeout=60)

    def create(self, key: str = ANN, **wish: Any) -> dict[str, Any]:
        answer = self.ask("POST", "/v2/sandboxes", {"templateID": "code-interpreter-v1", "timeout": 300, **wish}, key)
        self.assertEqual(answer.status, 201, answer.body)
        made = answer.json
        self.addCleanup(self.ask, "DELETE", "/sandboxes/" + made["sandboxID"], key=key)
        return made

    def inside(self, sandbox: dict[str, Any], method: str, path: str, body: Any = None, **more: str) -> Answer:
        """A request to the sandbox itself, which is named by a header."""
        headers = {"E2b-Sandbox-Id": sandbox["sandboxID"], "E2b-Sandbox-Port": "49999",
                   "X-Access-Token": sandbox["envdAccessToken"], "Content-Type": "application/json"}
        return self.service.ask(method, path, body, headers | {k.replace("_", "-"): v for k, v in more.items()}, timeout=60)

    def run_code(self, sandbox: dict[str, Any], code: str, **wish: Any) -> Execution:
        answer = self.inside(sandbox, "POST", "/execute", {"code": code, **wish})
        self.assertEqual(answer.status, 200, answer.body)
        told = Execution()
        for record in map(json.loads, answer.body.splitlines()):
            match record["type"]:
                case "stdout" | "stderr" as stream:
                    setattr(told, stream, getattr(told, stream) + record["text"])
                case "result":
                    told.results.append(record)
                case "error":
                    self.assertIsNone(told.error, answer.body)
                    told.error = record
                case "number_of_executions":
                    told.count = record["execution_count"]
        return told

    def call(self, sandbox: dict[str, Any], method: str, message: Any) -> Answer:
        return self.inside(sandbox, "POST", "/filesystem.Filesystem/" + method, message)

    def run_command(self, sandbox: dict[str, Any], command: str, **more: Any) -> dict[str, Any]:
        """What the events of its stream say: stdout, stderr, exit; or the error that ended it."""
        message = {"process": {"cmd": "/bin/bash", "args": ["-l", "-c", command], **more.pop("process", {})}, **more}
        answer = self.inside(sandbox, "POST", "/process.Process/Start", envelope(message),
                             Content_Type="application/connect+json")
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/connect+json"))
        told: dict[str, Any] = {"stdout": b"", "stderr": b"", "exit": None, "started": False}
        *events, (flags, end) = messages_in(answer.body)
        self.assertEqual(flags, 2)
        for flags, message in events:
            self.assertEqual(flags, 0)
            (kind, event), = message["event"].items()
            told["started"] |= kind == "start"
            for stream, data in event.items() if kind == "data" else ():
                told[stream] += base64.b64decode(data)
            if kind == "end":
                told["exit"] = event["exitCode"]
        return told | ({"error": end["error"]} if end else {})
