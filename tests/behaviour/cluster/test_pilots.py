"""What is seen of a router's pilots from outside: `GET /v1/pilots` and its schema."""

from __future__ import annotations

import unittest
from typing import Any

import schema
from cluster.routing import CALLER, OPERATOR, PILOT, TOKENS, RoutingTestCase, bearer
from serve import Answer, Service

PATHS = ("/v1/pilots", "/v1/pilots/join")


class Document(RoutingTestCase):
    """The OpenAPI document of a router has the routes that only routers have."""

    def document(self, service: Service, headers: dict[str, str] | None = None) -> dict[str, Any]:
        return service.ask("GET", "/v1/openapi.json", headers=headers).json

    def hold(self, document: dict[str, Any], path: str, answer: Answer) -> None:
        self.assertIn(str(answer.status), document["paths"][path]["get"]["responses"], path)
        self.assertEqual(schema.problems_of_answer(document, "GET", path, answer.status, answer.body), [])

    def test_a_router_describes_what_it_tells_of_its_pilots(self) -> None:
        router = self.router()
        document = self.document(router)
        self.hold(document, "/v1/pilots", router.ask("GET", "/v1/pilots"))
        for name in ("one", "two"):
            self.pilot(router, options=("--name", name))
        self.await_pilots(router, 2)
        router.run("print(1)")
        answer = router.ask("GET", "/v1/pilots")
        self.hold(document, "/v1/pilots", answer)
        known = document["components"]["schemas"]
        self.assertEqual(set(answer.json), set(known["Pilots"]["properties"]))
        for pilot in answer.json["pilots"]:
            self.assertEqual(set(pilot), set(known["Pilot"]["properties"]))
            wrong = {**answer.json, "pilots": [pilot | {"workers": "2"}]}
            self.assertNotEqual(list(schema.Schema(document).problems(known["Pilots"], wrong)), [])

    def test_joining_is_described_as_an_upgrade(self) -> None:
        router = self.router()
        document = self.document(router)
        self.assertIn("101", document["paths"]["/v1/pilots/join"]["get"]["responses"])
        self.hold(document, "/v1/pilots/join", router.ask("GET", "/v1/pilots/join"))
        ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
        self.assertEqual(len(ids), len(set(ids)))

    def test_what_a_token_may_not_is_described_too(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(TOKENS, encoding="utf-8")
        router = self.router("--tokens", str(tokens))
        document = self.document(router, bearer(OPERATOR))
        for path, stranger in zip(PATHS, (PILOT, CALLER)):
            for headers, status in ((None, 401), (bearer(stranger), 403)):
                answer = router.ask("GET", path, headers=headers)
                self.assertEqual(answer.status, status, path)
                self.hold(document, path, answer)

    def test_a_service_has_neither(self) -> None:
        service = Service("--log", "off")
        self.addCleanup(service.stop)
        document = self.document(service)
        for path in PATHS:
            self.assertNotIn(path, document["paths"])
            self.assertEqual(service.ask("GET", path).status, 404)
        self.assertNotIn("Pilots", document["components"]["schemas"])


if __name__ == "__main__":
    unittest.main()
