"""Steps of sessions, by jobs of a service."""

from __future__ import annotations

from typing import Any

import zygo
from serve import Service
from zygo import ZygoTestCase


class SessionTestCase(ZygoTestCase):
    service: Service
    options: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service("--log", "off", "--grace", "100ms", *cls.options)
        cls.addClassCleanup(cls.service.stop)

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
