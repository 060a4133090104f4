"""Steps of sessions, by jobs of a service and by its routes for sessions."""

from __future__ import annotations

from typing import Any

import zygo
from serve import Answer, Service
from zygo import ZygoTestCase


class ServiceTestCase(ZygoTestCase):
    service: Service
    options: tuple[str, ...] = ()
    before: tuple[str, ...] = ()  # a command that runs the service

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service("--log", "off", "--grace", "100ms", *cls.options, before=cls.before)
        cls.addClassCleanup(cls.service.stop)


class SessionTestCase(ServiceTestCase):
    def step(self, node: str, source: str, **fields: Any) -> zygo.Result:
        """At `node`, or, where that is empty, the first of a session."""
        return self.service.run(source, session=node or "new", **fields)

    def keep(self, node: str, source: str, label: str = "OK", **fields: Any) -> zygo.Result:
        result = self.step(node, source, **fields)
        self.assertLabel(result, label)
        self.assertTrue(result["session"]["kept"], result["session"])
        self.assertEqual(result["session"]["parent"], node or None)
        return result

    def node(self, node: str, *sources: str, **fields: Any) -> str:
        """Where these steps lead to."""
        for source in sources:
            node = self.keep(node, source, **fields)["session"]["node"]
        return node

    def value(self, node: str, source: str, **fields: Any) -> Any:
        return self.keep(node, source, **fields)["value"]

    def assertNotKept(self, result: zygo.Result, why: str, label: str = "OK") -> None:
        self.assertLabel(result, label)
        session = result["session"]
        self.assertEqual((session["kept"], session["node"], session.get("why_not")), (False, session["parent"], why))


class ApiTestCase(ServiceTestCase):
    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return self.service.ask(method, path, body, headers)

    def begin(self, **fields: Any) -> tuple[str, str]:
        answer = self.ask("POST", "/v1/sessions", fields)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json["session"], answer.json["node"]

    def run_at(self, node: str, source: str, **fields: Any) -> zygo.Result:
        answer = self.ask("POST", f"/v1/nodes/{node}/run", {"source": source, **fields})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.json["parent"], node)
        return answer.json

    def after(self, node: str, *sources: str) -> str:
        for source in sources:
            result = self.run_at(node, source)
            self.assertLabel(result, "OK")
            node = result["node"]
        return node

    def value(self, node: str, source: str) -> Any:
        result = self.run_at(node, source)
        self.assertLabel(result, "OK")
        return result["value"]

    def tried(self, node: str, steps: list[Any], **more: Any) -> tuple[dict[int, zygo.Result], dict[str, Any]]:
        """What became of each step, by its index, and the summary."""
        answer = self.ask("POST", f"/v1/nodes/{node}/try",
                          {"steps": [{"source": step} if isinstance(step, str) else step for step in steps], **more})
        self.assertEqual(answer.status, 200, answer.body)
        *lines, last = answer.lines
        self.assertEqual(sorted(line["index"] for line in lines), list(range(len(steps))))
        return {line["index"]: line for line in lines}, last["summary"]

    def nodes_of(self, session: str) -> dict[str, dict[str, Any]]:
        answer = self.ask("GET", f"/v1/sessions/{session}")
        self.assertEqual(answer.status, 200, answer.body)
        return {each["node"]: each for each in answer.json["nodes"]}

    def assertRefused(self, answer: Answer, status: int, code: str, path: str | None = None) -> str:
        self.assertEqual((answer.status, answer.json["error"]["code"]), (status, code), answer.body)
        if path is not None:
            self.assertEqual(answer.json["error"].get("path"), path, answer.body)
        return answer.json["error"]["message"]
