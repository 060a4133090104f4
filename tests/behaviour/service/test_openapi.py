"""The schemas of the OpenAPI document, held against what the service accepts and answers."""

from __future__ import annotations

import copy
import re
import tempfile
import unittest
from typing import Any, Iterator

import schema
from serve import Service
import zygo
from zygo import ZygoTestCase

# A template that nobody has: refused, but only when the job itself was found good.
NOBODY = {"source": "", "template": "nobody"}
BLOB = "sha256:" + "0" * 64

HTTP = zygo.CHECKOUT / "docs/http.md"

# The generated jobs below do not reach these, good and bad.
JOBS: list[tuple[bool, dict[str, Any]]] = [
    (True, {}),
    (True, {"source": {"blob": BLOB}}), (False, {"source": {"blob": "x"}}), (False, {"source": 1}),
    (True, {"tag": [1, {"a": None}]}),
    (True, {"files": {"a": {"text": "x", "executable": True}, "b": {"b64": "aGk="}, "c": {"blob": BLOB}, "d": {"directory": True}}}),
    (False, {"files": {"a": "x"}}), (False, {"files": {"a": {}}}), (False, {"files": {"a": {"text": "x", "b64": ""}}}),
    (True, {"env": {"A": "b"}}), (False, {"env": {"A": 1}}), (False, {"env": []}),
    (True, {"mode": "call", "func": "f", "inputs": [1, [2]]}), (False, {"mode": "call", "func": "f", "inputs": {}}),
    (True, {"mode": "call", "func": "f", "calls": [{"args": [1], "kwargs": {"a": 2}}]}),
    (False, {"mode": "call", "func": "f", "calls": [{"argv": []}]}),
    (True, {"tests": [{"name": "a", "stdin": "", "argv": ["x"], "expect": "y", "compare": "float:1e-6"}, {}]}),
    (True, {"mode": "call", "func": "f", "tests": [{"args": [1], "kwargs": {}, "expect": [1], "compare": "json"}]}),
    (True, {"stdin": {"b64": "/w=="}}), (False, {"stdin": {"b64": 1}}), (False, {"stdin": {}}), (False, {"stdin": {"text": ""}}),
    (True, {"tests": [{"stdin": {"b64": ""}}]}), (False, {"tests": [{"input": ""}]}), (False, {"tests": [{"compare": "similar"}]}), (False, {"tests": {}}),
    (True, {"tests": [{"expect": "", "compare": "checker"}],
            "checker": {"template": "python", "source": "x", "files": {}, "argv": ["a"], "protocol": "icpc"}}),
    (False, {"tests": [{}], "checker": {"template": "python"}}),
    (False, {"tests": [{}], "interactor": {"template": "python", "source": "x", "protocol": "spoken"}}),
    (True, {"policy": {"profile": "pure", "on_violation": "kill", "require": ["full"]}}), (False, {"policy": {"require": "full"}}),
    (False, {"sauce": ""}), (False, {"limits": {"time": 1}}), (False, {"limits": None}),
]


def fields_of(document: dict[str, Any]) -> Iterator[tuple[list[str], dict[str, Any]]]:
    def walk(node: dict[str, Any], path: list[str]) -> Iterator[tuple[list[str], dict[str, Any]]]:
        for name, field in node.get("properties", {}).items():
            yield [*path, name], field
            yield from walk(field, [*path, name])
    yield from walk(document["components"]["schemas"]["Job"], [])


def job_with(path: list[str], value: Any) -> dict[str, Any]:
    changes: Any = value
    for name in reversed(path):
        changes = {name: changes}
    return changes


class Document(ZygoTestCase):
    service: Service
    document: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-openapi-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--log", "off", ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)
        cls.document = cls.service.ask("GET", "/v1/openapi.json").json

    def is_accepted(self, job: dict[str, Any]) -> bool:
        answer = self.service.ask("POST", "/v1/jobs", job)
        self.assertEqual(answer.status, 400, answer.body)
        return '"nobody" is not known' in answer.json["error"]["message"]

    def hold(self, changes: dict[str, Any], good: bool | None = None) -> None:
        if set(changes.get("determinism", ())) & {"seed", "clock_step_us", "start"}:
            changes["determinism"].setdefault("mode", "fixed")  # what else they need is no matter of types
        if "seed" in changes:
            changes["session"] = "new"
        job = copy.deepcopy(NOBODY) | changes
        with self.subTest(job=changes):
            problems = schema.problems_of_job(self.document, job)
            accepted = self.is_accepted(job)
            self.assertEqual(accepted, not problems, problems)
            if good is not None:
                self.assertEqual(accepted, good)

    def test_jobs_are_accepted_as_the_schema_says(self) -> None:
        for good, changes in JOBS:
            self.hold(changes, good)

    def test_each_number_and_word_has_the_range_that_the_schema_says(self) -> None:
        seen = 0
        for path, field in fields_of(self.document):
            if path[0] in ("mode", "checker", "interactor"):
                continue  # what else they need is no matter of types
            if field.get("type") == "integer":
                for value, good in ((field["minimum"], True), (field["maximum"], True), (field["minimum"] - 1, False),
                                    (field["maximum"] + 1, False), ("1", False), (True, False), (1.5, False)):
                    self.hold(job_with(path, value), good)
            elif "enum" in field:
                for value in field["enum"]:
                    self.hold(job_with(path, value), True)
                self.hold(job_with(path, "other"), False)
            elif field.get("type") == "boolean":
                self.hold(job_with(path, "true"), False)
            elif field.get("type") == "object":
                self.hold(job_with(path, []), False)
            else:
                continue
            seen += 1
        self.assertGreater(seen, 15)

    def test_results_are_as_the_schema_says(self) -> None:
        jobs: list[dict[str, Any]] = [
            {"source": "print(1)", "tag": {"a": [1]}}, {"source": "print(1)", "determinism": {"mode": "fixed", "runs": 2}},
            {"source": "print(1)", "determinism": {"mode": "fixed"}},
            {"source": "1 / 0"}, {"source": "import sys; sys.exit(3)"}, {"source": "import os; os.abort()"},
            {"source": "while True: pass", "limits": {"cpu_ms": 200}},
            {"source": "x = bytearray(1 << 28)", "limits": {"memory_mb": 64}},
            {"source": "import socket; socket.socket()"},
            {"source": "def f(x): return x, {1}, b'', 1.5", "mode": "call", "func": "f", "inputs": [1]},
            {"source": "print(input())", "tests": [{"stdin": "1", "expect": "1"}, {"expect": ""}, {}], "stop": "first_fail"},
            {"source": "print({'apple', 'pear', 'plum', 'fig', 'lime'})", "determinism": {"runs": 2}},
            {"source": "import os\nopen('a', 'w').write('x')\nopen('b', 'wb').write(b'\\xff')\nos.symlink('a', 'c')", "outputs": ["*"]},
            {"source": "int main() { return 0; }", "template": "c"}, {"source": "int main() { return x; }", "template": "c"},
            {"source": "", "policy": {"require": ["nothing"]}},
            {"source": "", "template": "c", "mode": "call", "func": "f", "inputs": []},
        ]
        labels = set()
        for job in jobs:
            with self.subTest(job=job):
                answer = self.service.ask("POST", "/v1/jobs", job, {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"})
                problems = schema.problems_of_answer(self.document, "POST", "/v1/jobs", answer.status, answer.body)
                self.assertEqual(problems, [])
                labels.add(answer.json.get("label"))
        self.assertGreaterEqual(len(labels), 8, labels)

    def test_every_operation_has_an_id_of_its_own(self) -> None:
        """Clients that are generated from the document take their names from it."""
        ids = [operation["operationId"] for path in self.document["paths"].values() for operation in path.values()]

        self.assertEqual(len(ids), len(set(ids)))
        self.assertLessEqual({"postJobs", "getJobsById", "putBlobsByDigest", "getHealthz", "headHealthz"}, set(ids))
        self.assertEqual(self.document["servers"][0]["url"], "/")

    def test_the_manual_has_every_error_of_the_document(self) -> None:
        told = {status for path in self.document["paths"].values() for operation in path.values()
                for status in operation["responses"] if int(status) >= 400}
        table = HTTP.read_text().split("## Errors", 1)[1].split("##", 1)[0]
        known = {status for first in re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE) for status in re.findall(r"\d{3}", first)}
        self.assertEqual(known - told, {"405"})  # of what is no operation
        self.assertEqual(told - known, set())

    def test_head_is_get_without_its_body(self) -> None:
        for path in ("/healthz", "/readyz", "/metrics", "/v1/info", "/v1/runtimes", "/v1/openapi.json"):
            with self.subTest(path):
                head, full = (self.service.ask(method, path) for method in ("HEAD", "GET"))
                self.assertEqual((head.status, head.body), (full.status, b""))
                self.assertEqual(head.headers["content-type"], full.headers["content-type"])
                self.assertGreater(int(head.headers["content-length"]), 0)

    def test_the_validator_finds_what_is_wrong(self) -> None:
        good = self.service.ask("POST", "/v1/jobs", {"source": ""}).json
        self.assertEqual(schema.problems_of_result(self.document, good), [])
        for changes in ({"by": "chance"}, {"more": 1}, {"usage": {}}, {"level": "high"}, {"exit": {"code": "0", "signal": None}}):
            with self.subTest(changes):
                self.assertNotEqual(schema.problems_of_result(self.document, good | changes), [])
        self.assertNotEqual(schema.problems_of_result(self.document, {"id": "a"}), [])


if __name__ == "__main__":
    unittest.main()
