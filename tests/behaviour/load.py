"""Clients that keep a `zygo serve` busy while a test does something to it, and remember what they were told."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections import Counter
from types import TracebackType

import serve
import zygo
from serve import Answer, Service

# The job is long enough for a fault to hit it, needs the service's consent to write a file and its help to bring that
# home, and says which one it is.
SOURCE = """
import time
for part in ("a", "b"):
    with open(part + ".txt", "w") as file:
        file.write({name!r})
    time.sleep(0.01)
print({name!r})
"""
REFUSALS = {429, 503, 507}
RECKONED = 1024  # bytes that a kept result counts as beyond its own


class Load:
    """A few clients, each with one request at a time: jobs that are waited for, and ones that are fetched later."""

    def __init__(self, service: Service, clients: int = 4, later: str = "/v1/jobs?async=1") -> None:
        self.service = service
        self.later = later
        self.taken: dict[str, str] = {}  # name of a job that was acknowledged: where its result will be
        self.results: dict[str, zygo.Result] = {}
        self.kept = 0  # bytes of results that the service keeps until later, with what it reckons for each
        self.refused: Counter[int] = Counter()
        self.faults: list[str] = []  # what no client should ever see
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.clients = [threading.Thread(target=self.client, args=(number,)) for number in range(clients)]

    def __enter__(self) -> Load:
        for each in self.clients:
            each.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.over.set()
        for each in self.clients:
            each.join()
        if kind is None:
            self.fetch()

    def client(self, number: int) -> None:
        connection = self.service.client(60)
        for turn in itertools.count():
            if self.over.is_set():
                break
            name = f"{number}-{turn}"
            try:
                self.offer(connection, name, is_later=turn % 4 == 3)
            except (OSError, http.client.HTTPException) as error:
                self.note(f"job {name}: {error!r}")
                connection.close()
            if turn % 10 == 9:
                connection.close()  # the next request makes a new one
        connection.close()

    def offer(self, connection: http.client.HTTPConnection, name: str, is_later: bool) -> None:
        job = {"id": name, "source": SOURCE.format(name=name), "outputs": ["*.txt"]}
        answer = serve.ask_on(connection, "POST", self.later if is_later else "/v1/jobs", zygo.patient(job))
        if answer.status == 202:
            with self.lock:
                self.taken[name] = answer.headers["location"]
        elif answer.status == 200:
            self.keep(name, answer.json)
        else:
            self.refuse(name, answer)

    def refuse(self, name: str, answer: Answer) -> None:
        with self.lock:
            self.refused[answer.status] += 1
        if answer.status not in REFUSALS or int(answer.headers.get("retry-after", "0")) < 1:
            self.note(f"job {name}: {answer}")
        if answer.headers.get("connection") != "close":
            self.over.wait(0.01)  # a client that heeds the answer, in a hurry

    def keep(self, name: str, result: zygo.Result) -> None:
        with self.lock:
            if name in self.results:
                self.faults.append(f"job {name}: a second verdict")
            self.results[name] = result
        if result["id"] != name:
            self.note(f"job {name}: the verdict of {result['id']}")
        brought = {"a.txt": name, "b.txt": name}
        found = {path: file.get("text") for path, file in result.get("outputs", {}).items()}
        if result["label"] == "OK" and (result["stdout"]["text"], found) != (name + "\n", brought):
            self.note(f"job {name}: {result}")
        if result["label"] not in ("OK", "SandboxError"):
            self.note(f"job {name}: {result}")

    def note(self, fault: str) -> None:
        with self.lock:
            self.faults.append(fault)

    def fetch(self) -> None:
        """What was to be fetched later; twice, for it may not change."""
        for name, place in self.taken.items():
            first = self.service.ask("GET", place + "?wait=60", timeout=90)
            if first.status != 200:
                self.note(f"job {name}: acknowledged, and then {first}")
                continue
            self.keep(name, first.json)
            if "durable" not in self.later:
                self.kept += len(first.body) + RECKONED
            if self.service.ask("GET", place).body != first.body:
                self.note(f"job {name}: a verdict that has changed")

    def await_more(self, count: int, timeout: float = 60) -> None:
        """Until so many more jobs have ended well."""
        until, deadline = self.fine() + count, time.monotonic() + timeout * zygo.PATIENCE
        while self.fine() < until:
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.fine()} jobs have ended well, {until} should have; {self.labels()}, "
                                     f"refused: {self.refused}, {self.faults[:5]}")
            time.sleep(0.02)  # The clients tell nobody.

    def fine(self) -> int:
        return self.labels()["OK"]

    def labels(self) -> Counter[str]:
        with self.lock:
            return Counter(result["label"] for result in self.results.values())


def is_ready(service: Service) -> bool:
    return service.ask("GET", "/readyz").status == 200


def garbage() -> list[bytes]:
    job = json.dumps({"source": "print(1)"}).encode()
    whole = serve.post("/v1/jobs", job)
    return [whole[:-5], whole[:20], b"\x00\xff" * 200, b"GET / HTTP/9.9\r\n\r\n", b"POST /v1/jobs HTTP/1.1\r\n",
            serve.post("/v1/jobs", b"\xff{]" * 50, "Connection: close"), serve.chunked("/v1/jobs", job, 3)[:-9],
            b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"]
