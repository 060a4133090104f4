"""go-judge's /ws: many requests on one connection, answered by their ids as they end, and withdrawn by them."""

from __future__ import annotations

import tempfile
import unittest
from typing import Any

import serve
import ws_client
import zygo
from serve import Service
from apis.test_go_judge import SECOND, command
from ws_client import Closed, WebSocket
from zygo import ZygoTestCase


class Sockets(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-go-judge-ws-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--api", "go-judge", "--workers", "2", "--queue", "40", "--log", "off",
                              ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def open(self, service: Service | None = None, *headers: str) -> WebSocket:
        sock = (service or self.service).connect(60)
        self.addCleanup(sock.close)
        return WebSocket(sock, "/ws", *headers)

    def ask(self, ws: WebSocket, name: str, *args: str, **more: Any) -> None:
        ws.send(requestId=name, cmd=[command(*args, **more)])

    def answers(self, ws: WebSocket, count: int) -> dict[str, dict[str, Any]]:
        """By their ids; none twice."""
        found: dict[str, dict[str, Any]] = {}
        for _ in range(count):
            answer = ws.message()
            self.assertNotIn(answer["requestId"], found)
            found[answer["requestId"]] = answer
        return found


class Requests(Sockets):
    def test_are_answered_as_post_run_would_in_order_of_completion(self) -> None:
        ws = self.open()
        self.ask(ws, "slow", "/bin/sh", "-c", "sleep 1; echo slow")
        self.ask(ws, "quick", "/bin/cat", "-", stdin="quick\n")

        first, second = ws.message(), ws.message()

        self.assertEqual((first["requestId"], second["requestId"]), ("quick", "slow"))
        self.assertEqual(set(first), {"requestId", "results"})
        plain = self.service.ask("POST", "/run", {"cmd": [command("/bin/cat", "-", stdin="quick\n")]}).json
        self.assertEqual(set(first["results"][0]), set(plain[0]))
        self.assertEqual(first["results"][0]["files"], plain[0]["files"])
        self.assertEqual(second["results"][0]["files"]["stdout"], "slow\n")

    def test_many_at_once_and_an_id_may_come_again_when_it_is_answered(self) -> None:
        for _ in range(2):
            ws = self.open()
            names = [str(number) for number in range(30)]
            for name in names:
                self.ask(ws, name, "/bin/echo", name)
            found = self.answers(ws, len(names))
            self.assertEqual({name: answer["results"][0]["files"]["stdout"] for name, answer in found.items()},
                             {name: name + "\n" for name in names})
            self.ask(ws, "7", "/bin/echo", "again")
            self.assertEqual(ws.message()["results"][0]["files"]["stdout"], "again\n")

    def test_what_is_none_is_answered_with_its_id_and_the_rest_goes_on(self) -> None:
        ws = self.open()
        ws.send(requestId="empty")
        ws.send(cmd=[command("/bin/true")])
        ws.send(requestId="wrong", cmd=[{"args": []}])
        self.ask(ws, "one", "/bin/sh", "-c", "sleep 1")
        self.ask(ws, "one", "/bin/true")
        self.ask(ws, "late", "/bin/true")

        told = [ws.message() for _ in range(6)]

        errors = [(answer["requestId"], answer["error"]) for answer in told if "error" in answer]
        self.assertEqual(errors[0], ("empty", "no cmd provided"))
        self.assertEqual(errors[1], ("", "empty request id"))
        self.assertEqual(errors[2][0], "wrong")
        self.assertEqual(errors[3], ("one", "duplicated request id: one"))
        self.assertTrue(all(answer["results"] is None for answer in told if "error" in answer))
        self.assertEqual({answer["requestId"] for answer in told if "error" not in answer}, {"one", "late"})

    def test_that_wait_or_run_are_withdrawn_by_their_ids(self) -> None:
        ws = self.open()
        long = {"cpuLimit": 60 * SECOND, "clockLimit": 60 * SECOND}
        for number in range(8):
            self.ask(ws, f"long {number}", "/bin/sleep", "60", **long)
        self.service.await_metric("zygo_queue_jobs ", 4)

        ws.send(cancelRequestId="nobody")
        for number in reversed(range(8)):
            ws.send(cancelRequestId=f"long {number}")

        found = self.answers(ws, 8)
        errors = [answer.get("error") for answer in found.values()]
        self.assertGreaterEqual(errors.count("request cancelled before execute"), 4)
        self.service.await_metric("zygo_engine_jobs ", 0)
        self.ask(ws, "next", "/bin/echo", "next")
        self.assertEqual(ws.message()["results"][0]["status"], "Accepted")

    def test_more_than_the_queue_takes_are_told_and_end_nothing(self) -> None:
        ws, other = self.open(), self.open()
        for number in range(60):
            self.ask(ws if number % 2 else other, str(number), "/bin/sleep", "0.2")

        found = {**self.answers(ws, 30), **self.answers(other, 30)}

        self.assertEqual(len(found), 60)
        full = [answer for answer in found.values() if "error" in answer]
        self.assertTrue(full)
        self.assertEqual({answer["error"] for answer in full}, {"worker queue is full"})


class Ends(Sockets):
    def test_a_client_that_leaves_takes_its_requests_along(self) -> None:
        ws = self.open()
        for number in range(6):
            self.ask(ws, str(number), "/bin/sleep", "60", clockLimit=60 * SECOND)
        self.service.await_metric("zygo_engine_jobs ", 4)

        ws.sock.close()

        self.service.await_metric("zygo_engine_jobs ", 0)
        self.service.await_metric("zygo_queue_jobs ", 0)
        self.service.await_metric("zygo_held_bytes ", 0)

    def test_what_is_no_json_object_ends_the_connection(self) -> None:
        for payload in (b"[1]", b"nonsense", b'"text"'):
            ws = self.open()
            ws.send_frame(ws_client.TEXT, payload)
            with self.assertRaises(Closed) as closed:
                ws.message()
            self.assertEqual(closed.exception.code, 1003)

    def test_no_upgrade_no_token_and_no_switch(self) -> None:
        self.assertEqual(self.service.ask("GET", "/ws").status, 426)
        service = Service("--log", "off")
        self.addCleanup(service.stop)
        self.assertEqual(service.ask("GET", "/ws").status, 404)
        sock = self.service.connect()
        self.addCleanup(sock.close)
        sock.sendall(ws_client.handshake("/ws", "Origin: http://evil.example"))
        self.assertEqual(serve.read_answers(sock, 1)[0].status, 403)

    def test_a_service_that_ends_answers_what_is_under_way_and_says_goodbye(self) -> None:
        service = Service("--api", "go-judge", "--workers", "2", "--log", "off", "--grace", "20s")
        self.addCleanup(service.stop)
        idle, busy = self.open(service), self.open(service)
        self.ask(busy, "last", "/bin/sh", "-c", "sleep 3; echo last")
        service.await_metric("zygo_engine_jobs ", 1)

        service.process.terminate()

        with self.assertRaises(Closed) as closed:
            idle.message()
        self.assertEqual(closed.exception.code, 1001)
        self.assertEqual(busy.message()["results"][0]["files"]["stdout"], "last\n")
        with self.assertRaises(Closed):
            busy.message()
        self.assertEqual(service.wait()[0], 0)


if __name__ == "__main__":
    unittest.main()
