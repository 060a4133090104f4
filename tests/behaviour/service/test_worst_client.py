"""A client that does its worst costs only itself: another token's jobs are taken and get their verdicts, the health path
answers, and the service stays within the memory that it was given.

Each class of load is what one client can do by itself: connections, bodies, a queue, output, answers that it does not read.
"""

from __future__ import annotations

import json
import os
import re
import socket
import statistics
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import serve
from limits import test_pressure
import zygo
from serve import Answer, Service
from zygo import ZygoTestCase

GREEDY, MODEST = "0123456789abcdef-greedy", "0123456789abcdef-modest"
CONNECTIONS, QUEUE, HELD_MB = 32, 40, 128
# The service itself may hold so much, beside what it holds for clients: its code, heap and what the allocator keeps.
REST_MB = 300
# Control characters are six times as long in JSON. The program itself needs little memory.
TWO_HUNDRED_MB = "import os\nfor _ in range(3200): os.write(1, b'\\x01' * 65536)"
FLOOD = {"source": TWO_HUNDRED_MB, "limits": {"memory_mb": 32, "stdout_kb": 300_000, "wall_ms": 60_000, "cpu_ms": 30_000}}
JOB = {"source": "print(6 * 7)"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": "Bearer " + token}


def request(method: str, path: str, token: str = "", body: bytes = b"") -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
    if token:
        head.append("Authorization: Bearer " + token)
    return "\r\n".join([*head, "", ""]).encode() + body


class TwoClients(ZygoTestCase):
    """One service, and two holders of tokens behind one address."""

    options: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    workers = 2

    def setUp(self) -> None:
        super().setUp()
        self.ends = ExitStack()
        self.addCleanup(self.ends.close)
        tokens = self.folder() / "tokens"
        tokens.write_text(f"greedy {GREEDY}\nmodest {MODEST}\n")
        self.service = Service("--tokens", str(tokens), "--workers", str(self.workers), "--queue", str(QUEUE), "--log", "off",
                               "--connections", str(CONNECTIONS), "--held", f"{HELD_MB}M", "--max-body", "32M",
                               *self.options, before=self.before)
        self.ends.callback(self.service.stop)

    def connect(self) -> socket.socket:
        sock = self.service.connect()
        self.addCleanup(sock.close)
        return sock

    def ask(self, token: str, method: str, path: str, body: Any = None) -> Answer:
        return self.service.ask(method, path, body, bearer(token), timeout=90)

    def metric(self, name: str) -> float:
        text = self.ask(MODEST, "GET", "/metrics").body.decode()
        found = re.search(rf"^{name} ([0-9.e+]+)$", text, re.MULTILINE)
        assert found, name
        return float(found[1])

    def await_metric(self, name: str, least: float, most: float) -> None:
        deadline = time.monotonic() + 30 * zygo.PATIENCE
        while not least <= self.metric(name) <= most:
            self.assertLess(time.monotonic(), deadline, f"{name} is {self.metric(name)}")

    def assertModestIsServed(self, times: int = 3) -> None:
        for _ in range(times):
            self.assertEqual(self.service.ask("GET", "/healthz").status, 200)
            self.assertEqual(self.service.ask("GET", "/readyz").status, 200)
            answer = self.ask(MODEST, "POST", "/v1/jobs", JOB)
            self.assertEqual(answer.status, 200, answer.body)
            self.assertEqual((answer.json["label"], answer.json["stdout"]["text"]), ("OK", "42\n"))


class Connections(TwoClients):
    def test_that_say_nothing_keep_nobody_out(self) -> None:
        held = [self.connect() for _ in range(3 * CONNECTIONS)]

        self.assertModestIsServed()

        self.assertLessEqual(self.metric("zygo_connections"), CONNECTIONS + 32)
        del held

    def test_that_stay_after_a_request_keep_nobody_out(self) -> None:
        for _ in range(2 * CONNECTIONS):
            sock = self.connect()
            sock.sendall(request("GET", "/v1/templates", GREEDY))
            serve.read_answers(sock, 1)  # or a refusal

        self.assertModestIsServed()

    def test_on_which_answers_are_waited_for_keep_nobody_out(self) -> None:
        place = self.ask(GREEDY, "POST", "/v1/jobs?async=1", {"source": "import time; time.sleep(60)",
                                                              "limits": {"wall_ms": 90_000}}).headers["location"]
        for _ in range(CONNECTIONS):
            self.connect().sendall(request("GET", place + "?wait=60", GREEDY))
        slow = [self.connect() for _ in range(CONNECTIONS)]
        for sock in slow:  # heads of bodies that do not come
            sock.sendall(request("POST", "/v1/jobs", GREEDY, b" ")[:-1])

        self.assertModestIsServed()
        self.assertEqual(self.ask(GREEDY, "GET", place).status, 503)  # it has its share

    def test_its_own_idle_ones_are_what_a_modest_client_keeps(self) -> None:
        client = self.service.client()
        self.addCleanup(client.close)
        self.assertEqual(serve.ask_on(client, "POST", "/v1/jobs", JOB, bearer(MODEST)).status, 200)
        for _ in range(3 * CONNECTIONS):
            self.connect()
        self.assertEqual(self.service.ask("GET", "/healthz").status, 200)  # all of those have been seen
        self.assertEqual(serve.ask_on(client, "POST", "/v1/jobs", JOB, bearer(MODEST)).status, 200)


class Queues(TwoClients):
    def test_a_full_one_has_room_for_others_and_priority_is_ones_own(self) -> None:
        slow = {"source": "import time; time.sleep(0.2)", "priority": 100}
        statuses = [self.ask(GREEDY, "POST", "/v1/jobs?async=1", slow).status for _ in range(2 * QUEUE)]
        self.assertIn(429, statuses)

        began = time.monotonic()
        answer = self.ask(MODEST, "POST", "/v1/jobs", JOB)
        took = time.monotonic() - began

        self.assertEqual((answer.status, answer.json["label"]), (200, "OK"))
        # Behind a few of those that run, and not behind all that wait.
        self.assertGreater(self.metric("zygo_queue_jobs"), 0, f"after {took:.1f} s")

    def test_results_that_are_kept_for_others_stay(self) -> None:
        place = self.ask(MODEST, "POST", "/v1/jobs?async=1", JOB).headers["location"]
        self.assertEqual(self.ask(MODEST, "GET", place + "?wait=30").status, 200)
        four_mb = {"source": "import os\nfor _ in range(64): os.write(1, b'\\x01' * 65536)"}
        for _ in range(12):  # 24 MiB each, as JSON
            sent = self.ask(GREEDY, "POST", "/v1/jobs?async=1", four_mb)
            self.assertEqual(sent.status, 202)
            self.ask(GREEDY, "GET", sent.headers["location"] + "?wait=30")

        self.assertEqual(self.ask(MODEST, "GET", place).json["stdout"]["text"], "42\n")


class Workers(TwoClients):
    """Of several clients, who runs something leaves workers to who runs nothing."""

    options = ("--grace", "1s")
    workers = 8
    # Longer than anybody here waits for an answer.
    SLOW = {"source": "import time; time.sleep(300)", "limits": {"wall_ms": 600_000}}

    def begin(self, jobs: list[dict[str, Any]]) -> None:
        self.assertModestIsServed(1)  # somebody is there beside the greedy one
        for job in jobs:
            self.assertEqual(self.ask(GREEDY, "POST", "/v1/jobs?async=1", job).status, 202)

    def test_are_not_all_taken_by_the_jobs_of_one(self) -> None:
        self.begin([self.SLOW] * 30)
        self.await_metric("zygo_queue_jobs", 14, 14)  # 16 are with the engine
        self.assertModestIsServed(10)

    def test_are_not_all_taken_by_the_tests_of_one_job(self) -> None:
        self.begin([{**self.SLOW, "tests": [{"expect": str(i)} for i in range(30)]}])
        self.await_metric("zygo_engine_jobs", 1, 1)
        self.assertModestIsServed(10)

    def test_are_all_there_for_who_is_alone(self) -> None:
        for _ in range(8):
            self.assertEqual(self.ask(GREEDY, "POST", "/v1/jobs?async=1", self.SLOW).status, 202)
        self.await_metric("zygo_forks_total", 8, 8)


class Memory(TwoClients):
    """Where there is a control group, a service that holds too much is ended by the kernel, and not the machine."""

    def setUp(self) -> None:
        if home := test_pressure.home_of("memory"):
            group = home / f"zygo-behaviour-{os.getpid()}-worst"
            group.mkdir()
            self.addCleanup(self.remove, group)
            for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max"):
                if (group / name).exists():
                    (group / name).write_text(str(1200 << 20))
            self.before = ("/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh")
        super().setUp()

    def remove(self, group: Path) -> None:
        for folder, _, _ in os.walk(group, topdown=False):
            os.rmdir(folder)

    def assertIsWithinItsMemory(self) -> None:
        self.assertIsNone(self.service.process.poll())
        status = Path(f"/proc/{self.service.ready['pid']}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) // 1024  # type: ignore[index]
        self.assertLess(peak, HELD_MB + REST_MB)

    def test_output_is_counted_as_it_comes_and_as_it_is_answered(self) -> None:
        with ThreadPoolExecutor(8) as greedy:
            floods = [greedy.submit(self.ask, GREEDY, "POST", "/v1/jobs", FLOOD) for _ in range(8)]
            while not all(flood.done() for flood in floods):
                self.assertModestIsServed(1)
            for flood in floods:
                result = flood.result().json
                self.assertEqual((result["label"], result["by"], result["detail"]["step"]),
                                 ("SandboxError", "sandbox", "hold"), result["detail"])
        self.assertIsWithinItsMemory()
        self.await_metric("zygo_held_bytes", 0, 0)

    def test_tests_hold_only_what_is_kept_of_their_output(self) -> None:
        job = {"source": "import os\nfor _ in range(48): os.write(1, b'a' * 65536)",
               "tests": [{"expect": "b"} for _ in range(200)]}  # 600 MiB, of which 800 KiB are kept
        result = self.ask(GREEDY, "POST", "/v1/jobs", job).json
        self.assertEqual((result["label"], result["summary"]["failed"]), ("WrongAnswer", 200), result["detail"])
        self.assertIsWithinItsMemory()

    def test_what_a_batch_makes_of_one_default_is_counted(self) -> None:
        body = {"defaults": {"files": {"large.txt": {"text": "a" * (12 << 20)}}}, "jobs": [{"source": "print(1)"}] * 30}
        data = json.dumps(body).encode()
        with ThreadPoolExecutor(4) as greedy:
            batches = [greedy.submit(self.ask, GREEDY, "POST", "/v1/batches", data) for _ in range(4)]
            while not all(batch.done() for batch in batches):
                self.assertModestIsServed(1)
            for batch in batches:
                self.assertIn(batch.result().status, (200, 503))
                for result in batch.result().lines if batch.result().status == 200 else []:
                    self.assertIn(result["label"], ("OK", "SandboxError"))
        self.assertIsWithinItsMemory()

    def test_answers_that_are_not_read_are_counted_until_they_are(self) -> None:
        twelve_mb = {"source": "import os\nfor _ in range(192): os.write(1, b'a' * 65536)", "limits": {"stdout_kb": 16384}}
        silent = [self.connect() for _ in range(12)]
        for sock in silent:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.sendall(request("POST", "/v1/jobs", GREEDY, json.dumps(twelve_mb).encode()))
        self.await_metric("zygo_engine_jobs", 0, 0)

        self.assertGreater(self.metric("zygo_held_bytes"), 12 << 20)
        self.assertModestIsServed()

        self.assertIsWithinItsMemory()
        for sock in silent:
            sock.close()
        self.await_metric("zygo_held_bytes", 0, 0)


class Times(TwoClients):
    """In turns, with and without the other: the machine may be slow, and others may use it."""

    # Twice is the aim, and measured by hand; this is what no slow machine reaches without a fault. A body that is read
    # where others are answered costs more than this by itself.
    FACTOR, MOMENT = 12, 0.25

    def median(self) -> float:
        times = []
        for _ in range(9):
            began = time.monotonic()
            self.assertModestIsServed(1)
            times.append(time.monotonic() - began)
        return statistics.median(times)

    def test_large_bodies_are_not_read_where_others_are_answered(self) -> None:
        # Takes long to be read, and is no job.
        body = b'{"source": "1", "inputs": [' + b"[1]," * 2_000_000 + b"[1]]}"
        over = threading.Event()

        def bodies() -> None:
            while not over.is_set():
                self.assertIn(self.ask(GREEDY, "POST", "/v1/jobs", body).status, (400, 503))

        usual, beside = [], []
        for _ in range(3):
            usual.append(self.median())
            over.clear()
            with ThreadPoolExecutor(3) as greedy:
                sent = [greedy.submit(bodies) for _ in range(3)]
                beside.append(self.median())
                over.set()
                for each in sent:
                    each.result()
        self.assertLess(min(beside), self.FACTOR * min(usual) + self.MOMENT, (usual, beside))


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    return zygo.as_written(loader, globals())


if __name__ == "__main__":
    unittest.main()
