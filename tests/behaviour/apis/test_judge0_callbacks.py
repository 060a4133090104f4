"""Callbacks of Judge0's API: where a submission says, as far as the operator allows it."""

from __future__ import annotations

import base64
import json
import queue
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import host
from apis.judge0_client import PYTHON, Judge0Case


class Receiver(BaseHTTPRequestHandler):
    """Of callbacks: keeps what it is told, and answers as it is told to."""

    statuses: queue.SimpleQueue[int]  # of the next answers, 0: the connection is closed; then 200
    told: queue.SimpleQueue[tuple[str, dict[str, str], Any]]
    hears: threading.Event  # it reads nothing before this is set

    def do_PUT(self) -> None:
        self.hears.wait()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.told.put((self.path, dict(self.headers), body))
        status = 200 if self.statuses.empty() else self.statuses.get()
        if status:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


class WithReceiver(Judge0Case):
    receiver: type[Receiver]
    place: str
    more: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        cls.receiver = type("OurReceiver", (Receiver,), {"statuses": queue.SimpleQueue(), "told": queue.SimpleQueue(), "hears": threading.Event()})
        cls.receiver.hears.set()
        server = ThreadingHTTPServer(("127.0.0.1", 0), cls.receiver)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        cls.addClassCleanup(thread.join)
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.place = f"http://127.0.0.1:{server.server_port}"
        cls.options = ("--callbacks", f"{cls.place}/hooks", "--callbacks", "http://localhost:1", *cls.more)
        super().setUpClass()

    def told(self) -> tuple[str, dict[str, str], Any]:
        return self.receiver.told.get(timeout=60)

    def callbacks(self, result: str) -> float:
        return self.service.metric(f'zygo_judge0_callbacks_total{{result="{result}"}} ')

    def await_callbacks(self, result: str, count: float) -> None:
        self.service.await_metric(f'zygo_judge0_callbacks_total{{result="{result}"}} ', count)


class Callbacks(WithReceiver):
    def test_an_end_is_told_where_its_submission_says(self) -> None:
        before = self.callbacks("answered")
        answer = self.submit("print('\\xff' + input())", stdin="in", callback_url=f"{self.place}/hooks/7?who=ann")
        self.assertEqual(answer.status, 201, answer.body)

        path, headers, body = self.told()
        self.assertEqual((path, headers["Content-Type"], headers["Host"]),
                         ("/hooks/7?who=ann", "application/json", self.place.removeprefix("http://")))
        self.assertEqual(body["token"], answer.json["token"])
        self.assertEqual(body["status"], {"id": 3, "description": "Accepted"})
        self.assertEqual(base64.b64decode(body["stdout"]).decode(), "\xffin\n")
        self.assertEqual(body, self.get(answer.json["token"], "?base64_encoded=true").json)
        self.await_callbacks("answered", before + 1)
        told = self.get(answer.json["token"], "?fields=callback_url").json
        self.assertEqual(told, {"callback_url": f"{self.place}/hooks/7?who=ann"})

    def test_all_of_a_batch_and_who_waits_are_told(self) -> None:
        one = {"source_code": "1 / 0", "language_id": PYTHON, "callback_url": f"{self.place}/hooks"}
        before = self.callbacks("answered")
        tokens = {each["token"] for each in self.ask("POST", "/submissions/batch", {"submissions": [one] * 20}).json}
        self.assertEqual({self.told()[2]["token"] for _ in range(20)}, tokens)
        waited = self.run_it("print(1)", callback_url=f"{self.place}/hooks")
        self.assertEqual(self.told()[2]["token"], waited["token"])
        self.await_callbacks("answered", before + 21)

    def test_a_long_result_is_told_whole(self) -> None:
        before = self.callbacks("answered")
        self.submit("print('x' * 1000000)", callback_url=f"{self.place}/hooks")
        self.assertEqual(base64.b64decode(self.told()[2]["stdout"]), b"x" * 1000000 + b"\n")

    def test_who_does_not_answer_is_told_again(self) -> None:
        answered, failed = self.callbacks("answered"), self.callbacks("failed")
        self.receiver.statuses.put(0)
        token = self.submit("print(1)", callback_url=f"{self.place}/hooks").json["token"]
        self.assertEqual([self.told()[2]["token"] for _ in range(2)], [token] * 2)
        self.await_callbacks("answered", answered + 1)
        self.receiver.statuses.put(500)
        self.submit("print(1)", callback_url=f"{self.place}/hooks")
        self.told()
        self.await_callbacks("failed", failed + 1)
        self.assertEqual(self.submit("print(1)", callback_url="http://localhost:1/").status, 201)
        self.await_callbacks("failed", failed + 2)

    def test_nobody_else_is_called(self) -> None:
        elsewhere = {"callback_url": ["is no place where this service may call back"]}
        for url, why in ((f"{self.place}/", elsewhere), (f"{self.place}/hooks2", elsewhere), ("http://169.254.169.254/", elsewhere),
                         (f"{self.place}/hooks/../admin", {"callback_url": ["has a path with . or .. in it"]}),
                         ("file:///etc/passwd", {"callback_url": ["is no URL of http or https with a host"]})):
            with self.subTest(url):
                answer = self.submit("print(1)", callback_url=url)
                self.assertEqual((answer.status, answer.json), (422, why))

    def test_who_connects_has_no_capability(self) -> None:
        self.submit("print(1)", callback_url=f"{self.place}/hooks")
        self.told()
        found = [pid for pid in host.descendants(self.service.process.pid) if host.name_of(pid).startswith("zygo-dialer")]
        self.assertEqual(len(found), 3, found)  # one for each place, and who starts them
        for pid in found:
            with open(f"/proc/{pid}/status") as status:
                held = {line.split(":")[0]: int(line.split()[1], 16) for line in status if line.startswith("Cap")}
            self.assertEqual((held["CapPrm"], held["CapEff"], held["CapInh"]), (0, 0, 0), pid)

    def test_the_configuration_says_so(self) -> None:
        config = self.ask("GET", "/config_info").json
        self.assertEqual((config["enable_callbacks"], config["callbacks_max_tries"], config["callbacks_timeout"]), (True, 3, 5.0))


class CallbacksToTheDeaf(WithReceiver):
    more = ("--held", "64M")

    def test_results_come_before_them(self) -> None:
        """Nobody is listening for long: callbacks are dropped, and what is told to who asks is not."""
        self.receiver.hears.clear()
        self.addCleanup(self.receiver.hears.set)
        for _ in range(20):
            token = self.submit("print('x' * 900000)", callback_url=f"{self.place}/hooks").json["token"]
            self.assertEqual(self.ended(token, "?fields=status_id"), {"status_id": 3})
        self.assertGreater(self.callbacks("dropped"), 0)


class CallbacksAtTheEnd(WithReceiver):
    def test_a_service_that_ends_tells_them_first(self) -> None:
        self.receiver.statuses.put(0)
        token = self.submit("print(1)", callback_url=f"{self.place}/hooks").json["token"]
        self.assertEqual(self.told()[2]["token"], token)
        self.service.stop()
        self.assertEqual(self.told()[2]["token"], token)


if __name__ == "__main__":
    unittest.main()
