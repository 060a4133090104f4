"""Several routers for the same callers (`zygo route --peer`): whichever is asked, the one that has a job answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import unittest
from typing import Any

import host
import zygo
from cluster.routing import RoutingTestCase, bearer, resume
from serve import Answer, Service

ONE, TWO, PILOT, OPERATOR = (f"{name}-token-0123456789" for name in ("one", "two", "pilot", "operator"))
TOKENS = f"one {ONE} jobs\ntwo {TWO} jobs\nnodes {PILOT} pilot\noperator {OPERATOR} metrics\n"
NAMES = ("east", "west")
ENDLESS = {"source": "while True: pass", "limits": {"cpu_ms": 60_000, "wall_ms": 60_000}}
KEPT, DURABLE, BATCHES = "/v1/jobs?async=1", "/v1/jobs?async=1&durable=1", "/v1/batches?async=1&durable=1"


class PeersTestCase(RoutingTestCase):
    """Two routers that know each other, and one pilot at both."""

    def setUp(self) -> None:
        super().setUp()
        self.home = self.folder()
        self.tokens = self.home / "tokens"
        self.tokens.write_text(TOKENS, encoding="utf-8")
        listeners = [socket.create_server(("127.0.0.1", 0)) for _ in NAMES]
        self.ports = [listener.getsockname()[1] for listener in listeners]
        self.routers = [self.start(index, listener) for index, listener in enumerate(listeners)]
        self.east, self.west = self.routers
        joins = [part for port in self.ports for part in ("--join", f"http://127.0.0.1:{port}")]
        pilot = Service("--log", "off", *joins, "--workers", "2", "--token-file", self.token_file(PILOT),
                        listen=(), command="pilot")
        self.addCleanup(pilot.stop)
        for router in self.routers:
            self.await_pilots(router, 1, bearer(OPERATOR))

    LEASE = "10s"

    def start(self, index: int, listener: socket.socket) -> Service:
        """On a socket that is bound already: the other one has to know its port."""
        number = listener.fileno()
        script = f'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3<&{number}'
        peers = [part for name, port in zip(NAMES, self.ports) for part in ("--peer", f"{name}=http://127.0.0.1:{port}")]
        router = self.router("--name", NAMES[index], *peers, "--tokens", str(self.tokens), "--grace", "200ms", "--lease", self.LEASE,
                             "--durable", str(self.home / f"{NAMES[index]}.db"), listen=(),
                             before=("sh", "-c", script, "sh"), pass_fds=(number,))
        listener.close()
        router.port = self.ports[index]
        return router

    def again(self, index: int) -> Service:
        """A new router in the place of one that has ended."""
        return self.start(index, socket.create_server(("127.0.0.1", self.ports[index])))

    def post(self, router: Service, path: str, body: Any, token: str = ONE, key: str = "") -> Answer:
        headers = {"Idempotency-Key": key} if key else {}
        return router.ask("POST", path, body, {**bearer(token), **headers}, timeout=60)

    def get(self, router: Service, path: str, token: str = ONE) -> Answer:
        return router.ask("GET", path, headers=bearer(token), timeout=90)

    def delete(self, router: Service, path: str, token: str = ONE) -> Answer:
        return router.ask("DELETE", path, headers=bearer(token), timeout=60)

    def keep(self, router: Service, path: str, body: Any, key: str = "") -> str:
        """Where its result will be."""
        answer = self.post(router, path, body, key=key)
        self.assertEqual(answer.status, 202, answer.body)
        return answer.headers["location"]

    def key_of(self, index: int, path: str = DURABLE) -> str:
        """A key whose home is this router."""
        for number in range(100):
            answer = self.post(self.east, path, {"source": "1"}, key=f"key {number}")
            self.assertEqual(answer.status, 202, answer.body)
            if answer.headers["x-zygo-router"] == NAMES[index]:
                return f"key {number}"
        raise AssertionError(f"{NAMES[index]} is the home of none of 100 keys")

    def operator(self, router: Service, metric: str) -> float:
        lines = router.ask("GET", "/metrics", headers=bearer(OPERATOR)).body.decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(metric))


class Jobs(PeersTestCase):
    def test_any_router_tells_the_result_of_a_job(self) -> None:
        place = self.keep(self.east, KEPT, {"source": "print(6 * 7)"})
        self.assertTrue(place.endswith("-east"), place)
        for router in self.routers:
            answer = self.get(router, place + "?wait=60")
            self.assertEqual((answer.status, answer.headers["x-zygo-router"]), (200, "east"))
            self.assertEqual(answer.json["stdout"]["text"], "42\n")
        self.assertEqual(self.operator(self.west, "zygo_forwarded_requests_total"), 1)
        self.assertEqual(self.operator(self.east, "zygo_forwarded_requests_total"), 0)

    def test_a_long_result_arrives_whole(self) -> None:
        source = "import random\nprint(random.Random(1).randbytes(3_000_000).hex())"
        place = self.keep(self.east, KEPT, {"source": source, "limits": {"stdout_kb": 8000}})
        here, there = (self.get(router, place + "?wait=60") for router in self.routers)
        self.assertEqual(len(here.json["stdout"]["text"]), 6_000_001)
        self.assertEqual(here.body, there.body)

    def test_any_router_cancels_a_job(self) -> None:
        place = self.keep(self.east, KEPT, ENDLESS)
        cancelled = self.delete(self.west, place)
        self.assertEqual((cancelled.status, cancelled.json["label"]), (200, "Cancelled"))
        self.assertEqual(self.get(self.east, place).json["label"], "Cancelled")

    def test_a_state_and_a_wait_that_is_wrong_come_from_the_job_s_router(self) -> None:
        place = self.keep(self.east, KEPT, ENDLESS)
        self.assertEqual(self.get(self.west, place).json["id"], place.rpartition("/")[2])
        wrong = self.get(self.west, place + "?wait=long")
        self.assertEqual((wrong.status, wrong.json["error"]["code"]), (400, "wait"))
        self.delete(self.west, place)

    def test_another_s_job_and_one_that_never_was_are_not_there(self) -> None:
        place = self.keep(self.east, KEPT, {"source": "1"})
        for path, token in ((place, TWO), ("/v1/jobs/j-0123-east", ONE), ("/v1/jobs/j-0123-nowhere", ONE)):
            for router in self.routers:
                self.assertEqual(self.get(router, path, token).status, 404, path)
        self.assertEqual(self.west.ask("GET", place).status, 401)

    def test_what_was_passed_on_is_not_passed_on_again(self) -> None:
        place = self.keep(self.east, KEPT, {"source": "1"})
        answer = self.west.ask("GET", place, headers={**bearer(ONE), "X-Zygo-Forwarded-By": "north"})
        self.assertEqual((answer.status, answer.headers["x-zygo-router"]), (404, "west"))

    def test_who_leaves_is_waited_for_nowhere(self) -> None:
        place = self.keep(self.east, KEPT, ENDLESS)
        before = self.operator(self.east, "zygo_connections ")
        with self.west.connect() as client:
            client.sendall(f"GET {place}?wait=300 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ONE}\r\n\r\n".encode())
            self.await_value(lambda: self.operator(self.east, "zygo_connections "), before + 1)
        self.await_value(lambda: self.operator(self.east, "zygo_connections "), before)
        self.delete(self.east, place)


class Batches(PeersTestCase):
    def test_any_router_tells_the_results_of_a_batch(self) -> None:
        jobs = "".join(json.dumps({"id": str(i), "source": f"print({i})"}) + "\n" for i in range(20)).encode()
        place = self.keep(self.east, BATCHES, jobs)
        answer = self.get(self.west, place + "?wait=60")
        self.assertEqual((answer.headers["x-zygo-jobs"], answer.headers["content-type"]), ("20", "application/x-ndjson"))
        self.assertEqual({line["id"]: line["stdout"]["text"] for line in answer.lines}, {str(i): f"{i}\n" for i in range(20)})

    def test_any_router_cancels_a_batch(self) -> None:
        place = self.keep(self.east, BATCHES, json.dumps(ENDLESS).encode())
        self.assertEqual(self.delete(self.west, place).status, 202)
        result, = self.get(self.west, place + "?wait=60").lines
        self.assertEqual(result["label"], "Cancelled")

    def test_an_answer_that_breaks_off_is_no_whole_one(self) -> None:
        jobs = "".join(json.dumps({"id": str(i), "source": f"print({i})"} if i < 5 else ENDLESS) + "\n"
                       for i in range(6)).encode()
        place = self.keep(self.east, BATCHES, jobs)
        with self.west.connect() as client:
            client.sendall(f"GET {place}?wait=300 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ONE}\r\n\r\n".encode())
            stream = client.makefile("rb")
            while b'"4"' not in (line := stream.readline()):
                self.assertTrue(line, "it ended before five results")
            self.east.stop(signal.SIGKILL)
            self.assertFalse(stream.read().endswith(b"\r\n0\r\n\r\n"))


class Keys(PeersTestCase):
    def test_a_key_means_the_same_at_all_routers(self) -> None:
        for number in range(8):
            places = {self.keep(router, DURABLE, {"source": f"print({number})"}, key=f"order {number}") for router in self.routers}
            self.assertEqual(len(places), 1, places)
        self.assertGreater(self.operator(self.east, "zygo_forwarded_requests_total"), 0)
        again = self.post(self.west, DURABLE, {"source": "print(0)"}, key="order 0")
        self.assertEqual(again.headers["idempotent-replayed"], "true")
        self.assertTrue(again.headers["location"].endswith(again.headers["x-zygo-router"]))
        other = self.post(self.west, DURABLE, {"source": "print(1)"}, key="order 0")
        self.assertEqual((other.status, other.json["error"]["code"]), (422, "idempotency"))

    def test_clients_have_keys_of_their_own(self) -> None:
        answers = [self.post(router, DURABLE, {"source": f"print({number})"}, token, "same")
                   for number, token in enumerate((ONE, TWO)) for router in self.routers]
        self.assertEqual([answer.status for answer in answers], [202] * 4)
        self.assertEqual(len({answer.headers["location"] for answer in answers}), 2)

    def test_a_durable_job_waits_for_the_ledger_that_knows_its_key(self) -> None:
        key = self.key_of(0)
        place = self.keep(self.west, DURABLE, {"source": "1"}, key=key)
        self.east.stop(signal.SIGKILL)
        for answer in (self.post(self.west, DURABLE, {"source": "1"}, key=key), self.get(self.west, place)):
            self.assertEqual((answer.status, answer.json["error"]["code"]), (503, "router_unreachable"), answer.body)
            self.assertIn("router east has it", answer.json["error"]["message"])
            self.assertIn("retry-after", answer.headers)
        self.again(0)
        self.await_value(lambda: self.post(self.west, DURABLE, {"source": "1"}, key=key).status, 202)
        self.assertEqual(self.get(self.west, place + "?wait=60").json["label"], "OK")

    def test_a_job_that_is_not_durable_has_its_first_verdict_at_all_routers(self) -> None:
        random = {"source": "import random; print(random.random())"}
        for number in range(6):
            first, again = (self.post(router, "/v1/jobs", random, key=f"verdict {number}") for router in self.routers)
            self.assertEqual((first.status, first.json["label"]), (200, "OK"))
            self.assertEqual((again.body, again.headers["idempotent-replayed"]), (first.body, "true"))
        self.assertGreater(self.operator(self.west, "zygo_forwarded_requests_total"), 0)

    def test_a_client_that_lost_its_router_sends_again_to_another(self) -> None:
        key = self.key_of(0)
        with self.west.connect() as client:
            body = json.dumps({"source": "import time; time.sleep(60)"}).encode()
            client.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n"
                           b"Content-Length: %d\r\n\r\n%s" % (ONE.encode(), key.encode(), len(body), body))
            self.await_value(lambda: self.operator(self.east, "zygo_engine_jobs"), 1)
            self.east.stop(signal.SIGKILL)
            self.assertIn(b" 502 ", client.makefile("rb").readline())
        answer = self.post(self.west, "/v1/jobs", {"source": "print('here')"}, key=key)
        self.assertEqual((answer.json["stdout"]["text"], answer.headers["x-zygo-router"]), ("here\n", "west"))

    def test_a_body_goes_on_as_it_came(self) -> None:
        key = self.key_of(0)
        source = "#" + "x" * 3_000_000
        places = {self.post(router, DURABLE, {"source": source}, key=key + "long").headers.get("location") for router in self.routers}
        self.assertEqual(len(places), 1, places)
        self.assertEqual(self.get(self.west, places.pop() + "?wait=60").json["label"], "OK")


class Frozen(PeersTestCase):
    LEASE = "1s"

    def test_a_router_that_is_silent_is_waited_for_no_longer_than_it_may(self) -> None:
        place = self.keep(self.east, KEPT, {"source": "1"})
        key = self.key_of(0)
        processes = [self.east.process.pid]
        self.addCleanup(resume, processes)
        os.kill(self.east.process.pid, signal.SIGSTOP)
        for answer in (self.get(self.west, place), self.delete(self.west, place), self.post(self.west, DURABLE, {"source": "1"}, key=key)):
            self.assertEqual((answer.status, answer.json["error"]["code"]), (502, "router_lost"), answer.body)
            self.assertIn("router east: no answer in time", answer.json["error"]["message"])
        resume(processes)
        self.assertEqual(self.get(self.west, place + "?wait=60").json["label"], "OK")


class Dialers(PeersTestCase):
    """The processes that connect for a router, which may not, and the one that starts them."""

    LEASE = "1s"

    def process(self, router: Service, name: str) -> int:
        found, = [pid for pid in host.descendants(router.process.pid) if host.name_of(pid) == name]
        return found

    def test_one_that_is_killed_is_replaced(self) -> None:
        place = self.keep(self.east, KEPT, {"source": "1"})
        self.await_value(lambda: self.operator(self.west, "zygo_router_dialers"), 1)
        killed = self.process(self.west, "zygo-dialer")
        os.kill(killed, signal.SIGKILL)
        said = self.west.await_line("which connects, has ended")
        self.assertIn(f" zygo route: router east: process {killed}, which connects, has ended; another one is started", said)

        self.await_value(lambda: self.get(self.west, place + "?wait=60").status, 200)
        self.assertEqual(self.operator(self.west, "zygo_router_dialers"), 1)
        self.assertNotEqual(self.process(self.west, "zygo-dialer"), killed)

    def test_where_nothing_can_replace_it_the_log_says_so_and_the_rest_goes_on(self) -> None:
        place = self.keep(self.east, KEPT, {"source": "1"})
        dialer, starter = self.process(self.west, "zygo-dialer"), self.process(self.west, "zygo-dialers")
        os.kill(starter, signal.SIGKILL)
        self.west.await_line(" zygo route: the process that starts those that connect to other routers has ended")
        self.assertEqual(self.get(self.west, place + "?wait=60").status, 200)

        os.kill(dialer, signal.SIGKILL)
        self.await_value(lambda: self.operator(self.west, "zygo_router_dialers"), 0)
        answer = self.get(self.west, place)
        self.assertEqual((answer.status, answer.json["error"]["code"]), (503, "router_unreachable"), answer.body)
        self.assertEqual(self.post(self.west, "/v1/jobs", {"source": "print(1)"}).json["label"], "OK")

    def test_one_that_does_not_answer_is_waited_for_no_longer_than_a_router(self) -> None:
        key = self.key_of(0)
        processes = [self.process(self.west, "zygo-dialer")]
        self.addCleanup(resume, processes)
        os.kill(processes[0], signal.SIGSTOP)

        kept = self.post(self.west, DURABLE, {"source": "1"}, key=key)
        self.assertEqual((kept.status, kept.json["error"]["code"]), (503, "router_unreachable"), kept.body)
        self.assertIn("no connection in time", kept.json["error"]["message"])
        job = self.post(self.west, "/v1/jobs", {"source": "print('here')"}, key=key)
        self.assertEqual((job.status, job.headers["x-zygo-router"]), (200, "west"), job.body)
        self.assertEqual(job.json["stdout"]["text"], "here\n")

        resume(processes)
        place = self.keep(self.west, DURABLE, {"source": "1"}, key=key)
        self.assertTrue(place.endswith("-east"), place)


class Options(zygo.ZygoTestCase):
    def refused(self, *options: str) -> str:
        ended = zygo.run_cli("route", "--listen", "127.0.0.1:0", *options)
        self.assertEqual(ended.code, 2, ended.err)
        return ended.err.decode()

    def test_what_is_wrong_is_named(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(TOKENS, encoding="utf-8")
        known = ("--tokens", str(tokens), "--name", "east")
        self.assertIn("--peer: west: expected NAME=URL", self.refused(*known, "--peer", "west"))
        self.assertIn("--peer: a b=http://x: the name", self.refused(*known, "--peer", "a b=http://x"))
        self.assertIn("--peer: west: expected http://", self.refused(*known, "--peer", "west=unix:/run/zygo"))
        self.assertIn("--peer: ", self.refused(*known, "--peer", "west=ftp://x"))
        twice = ("--peer", "west=http://x", "--peer", "west=http://y")
        self.assertIn("--peer: west is there twice", self.refused(*known, *twice))
        self.assertIn("east is this router", self.refused(*known, "--peer", "east=http://x"))
        self.assertIn("--peer: needs --tokens", self.refused("--peer", "west=http://x"))
        self.assertIn("--name: a b", self.refused("--tokens", str(tokens), "--name", "a b", "--peer", "west=http://x"))
        self.assertIn("no --peer is https://", self.refused(*known, "--peer", "west=http://x", "--ca-file", "x"))


if __name__ == "__main__":
    unittest.main()
