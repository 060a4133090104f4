"""What is seen of a router's pilots from outside: `GET /v1/pilots` and its schema, and who was lost and why."""

from __future__ import annotations

import json
import os
import signal
import struct
import time
import unittest
from typing import Any

import host
import schema
import ws_client
import zygo
from cluster.routing import CALLER, OPERATOR, PILOT, TOKENS, RoutingTestCase, bearer, resume
from serve import Answer, Service

PATHS = ("/v1/pilots", "/v1/pilots/join")


def hello(name: str) -> bytes:
    """A pilot's first message in its frame, as cluster/wire/messages.h has it."""
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()
    said = struct.pack("<BQ4sHH", 1, 0, b"zygo", 1, 1) + text(name) + text("0.1.0") + text("")
    said += struct.pack("<IBIQ", 1, 0, 0, 1) + text("python") + struct.pack("<q", 0)
    return struct.pack("<I", len(said)) + said


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
        self.assertEqual(answer.json["recently_lost"], [])
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


class Lost(RoutingTestCase):
    def start(self, router: Service, pilot: str) -> None:
        """A job that sleeps runs at the only pilot, and ends with the router."""
        job = {"source": "import time\ntime.sleep(600)", "limits": {"wall_ms": 600_000}}
        self.assertEqual(router.ask("POST", "/v1/jobs?async=1", job).status, 202)
        self.await_cluster(router, lambda told: [(each["name"], each["jobs"], each["running"]) for each in told["pilots"]]
                           == [(pilot, 1, 1)])

    def hold(self, router: Service, told: dict[str, Any]) -> None:
        document = router.ask("GET", "/v1/openapi.json").json
        pilots = document["components"]["schemas"]
        self.assertEqual(list(schema.Schema(document).problems(pilots["Pilots"], told)), [])
        for loss in told["recently_lost"]:
            self.assertEqual(set(loss), set(pilots["LostPilot"]["properties"]))

    def top(self, router: Service, *options: str) -> zygo.Finished:
        ended = zygo.run_cli("top", "--once", "--url", f"http://127.0.0.1:{router.port}", *options)
        self.assertEqual(ended.code, 0, ended.stderr)
        return ended

    def test_a_pilot_that_is_killed_is_named_with_the_reason(self) -> None:
        before = time.time()
        router = self.router("--grace", "100ms")
        killed = self.pilot(router, options=("--name", "node-7"))
        self.start(router, "node-7")
        killed.stop(signal.SIGKILL)
        told = self.await_cluster(router, lambda told: told["recently_lost"])
        loss, = told["recently_lost"]
        self.assertEqual((loss["name"], loss["reason"], loss["jobs"], loss["message"]),
                         ("node-7", "disconnected", 1, "its connection has ended"))
        self.assertLessEqual(int(before * 1000), loss["time_ms"])
        self.assertLessEqual(loss["time_ms"], time.time() * 1000)
        self.assertEqual((told["pilots"], told["lost"]), ([], 1))
        self.hold(router, told)
        shown = json.loads(self.top(router, "--json").out)
        self.assertEqual(shown["cluster"], told)
        self.assertEqual(set(shown) - {"cluster"}, set(router.ask("GET", "/v1/stats").json))
        metrics = {name: router.metric(name) for name in ('zygo_pilots{state="ready"}', 'zygo_pilots_lost_total{reason="disconnected"}',
                                                          'zygo_pilots_lost_total{reason="silent"}', "zygo_pilot_restarts_total ")}
        self.assertEqual(list(metrics.values()), [0, 1, 0, told["restarts"]], metrics)
        self.assertRegex(self.top(router).stdout, r"\d\d:\d\d:\d\d  lost node-7 +1 jobs, its connection has ended\n")

    def test_top_shows_each_pilot(self) -> None:
        router = self.router("--grace", "100ms")
        self.pilot(router, options=("--name", "node-9", "--grace", "100ms"))
        self.start(router, "node-9")
        self.assertRegex(self.top(router).stdout, r"\nnode-9 +here +full +1/2 +0 ")
        self.assertIn("\npilots   1 here, 0 draining, 0 silent; 0 lost lately,", self.top(router).stdout)
        process = zygo.start_cli("top", "--every", "50ms", "--url", f"http://127.0.0.1:{router.port}", bufsize=0)
        self.addCleanup(zygo.finish, process)
        assert process.stdout
        heading, line = (process.stdout.readline().decode().split() for _ in range(2))
        self.assertEqual(heading[-3:], ["here", "draining", "lost"])
        self.assertEqual(line[-3:], ["1", "0", "0"])
        process.send_signal(signal.SIGINT)
        self.assertEqual(zygo.finish(process), 0)

    def test_a_pilot_that_is_silent_is_named_once_and_may_come_back(self) -> None:
        router = self.router("--lease", "500ms")
        frozen = self.pilot(router, options=("--name", "node-8"))
        self.await_pilots(router, 1)
        processes = sorted({frozen.process.pid} | host.descendants(frozen.process.pid))
        self.addCleanup(resume, processes)
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        told = self.await_cluster(router, lambda told: told["recently_lost"])
        self.assertEqual([each["state"] for each in told["pilots"]], ["silent"])
        self.assertEqual(router.metric('zygo_pilots{state="silent"}'), 1)
        self.assertEqual([(each["name"], each["reason"]) for each in told["recently_lost"]], [("node-8", "silent")])
        self.hold(router, told)
        resume(processes)
        self.await_pilots(router, 1)

    def test_a_pilot_that_is_sent_away_is_named_with_what_it_did(self) -> None:
        router = self.router()
        stranger = ws_client.WebSocket(router.connect(), "/v1/pilots/join", "Sec-WebSocket-Protocol: zygo.pilot")
        stranger.send_frame(ws_client.BINARY, hello("node-10"))
        self.await_pilots(router, 1)
        stranger.send_frame(ws_client.TEXT, b"{}")
        told = self.await_cluster(router, lambda told: told["recently_lost"])
        loss, = told["recently_lost"]
        self.assertEqual((loss["name"], loss["reason"], loss["message"]), ("node-10", "sent_away", "it sends text"))
        self.hold(router, told)
        self.assertEqual(router.metric('zygo_pilots_lost_total{reason="sent_away"}'), 1)

    def test_a_pilot_that_ends_in_order_was_not_lost(self) -> None:
        router = self.router()
        pilot = self.pilot(router)
        self.await_pilots(router, 1)
        self.assertEqual(pilot.stop()[0], 0)
        told = self.await_cluster(router, lambda told: not told["pilots"])
        self.assertEqual(told["recently_lost"], [])


if __name__ == "__main__":
    unittest.main()
