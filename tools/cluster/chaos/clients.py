"""Callers: they send jobs of known outcome in several ways, to any router, and note every verdict."""
from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .cast import CALLER

PATIENCE = 300.0  # Seconds, for one request or until a router answers again.
LONG = 3000  # Times that a long output repeats its job's id.


class GaveUp(Exception):
    """Nobody has answered within the patience."""


@dataclass
class Tally:
    """What has become of all jobs. Shared by the clients."""

    wanted: int
    given_out: int = 0
    verdicts: int = 0
    asked_again: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    troubles: Counter[str] = field(default_factory=Counter)  # Verdicts that are zygo's own trouble, by their detail.
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, count: int) -> int:
        """How many jobs are to be sent now, and the number of the first."""
        with self.lock:
            first = self.given_out
            self.given_out = min(self.wanted, first + count)
            return first

    def fault(self, what: str) -> None:
        with self.lock:
            self.problems.append(what)


@dataclass
class Job:
    line: dict[str, Any]
    label: str
    output: str | None


def job_of(identity: str, chance: random.Random) -> Job:
    draw = chance.random()
    if draw < 0.9:
        return Job({"id": identity, "source": f"print('{identity}')"}, "OK", identity + "\n")
    if draw < 0.94:
        return Job({"id": identity, "source": f"print('{identity}')\nraise KeyError(1)"}, "KeyError", identity + "\n")
    if draw < 0.97:
        return Job({"id": identity, "source": f"import time\ntime.sleep(0.02)\nprint('{identity}')"}, "OK", identity + "\n")
    if draw < 0.999:
        return Job({"id": identity, "source": f"print('{identity}' * {LONG})"}, "OK", identity * LONG + "\n")
    return Job({"id": identity, "source": "while True: pass", "limits": {"cpu_ms": 50}}, "TimeoutException", None)


class Client(threading.Thread):
    """Sends until all jobs are given out. Whatever is not answered is sent again, as its way promises."""

    SIZES: ClassVar[tuple[int, ...]] = (1, 20, 200, 1000)

    def __init__(self, number: int, seed: int, ports: list[int], tally: Tally) -> None:
        super().__init__(daemon=True)
        self.number, self.ports, self.tally = number, ports, tally
        self.chance = random.Random(f"{seed} {number}")
        self.batches = 0

    def run(self) -> None:
        ways = (self.stream, self.durable, self.durable, self.durable)
        try:
            while (size := self.next_size()) > 0:
                self.chance.choice(ways)(size)
        except GaveUp as error:
            self.tally.fault(f"client {self.number}: {error}")

    def next_size(self) -> int:
        size = self.chance.choice(self.SIZES)
        first = self.tally.take(size)
        return min(size, self.tally.wanted - first)

    def jobs(self, count: int) -> dict[str, Job]:
        self.batches += 1
        made = (f"c{self.number}b{self.batches}j{index}" for index in range(count))
        return {identity: job_of(identity, self.chance) for identity in made}

    @contextlib.contextmanager
    def asking(self, method: str, path: str, body: bytes | None = None, key: str = "") -> Iterator[http.client.HTTPResponse]:
        """A router drawn by chance answers, perhaps. Its answer may break off while it is read."""
        connection = http.client.HTTPConnection("127.0.0.1", self.chance.choice(self.ports), timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {CALLER}", **({"Idempotency-Key": key} if key else {})}
        try:
            connection.request(method, path, body, headers)
            yield connection.getresponse()
        finally:
            connection.close()

    def pause(self, until: float, why: object) -> None:
        """Before the same is asked again."""
        with self.tally.lock:
            self.tally.asked_again += 1
        if time.monotonic() > until:
            raise GaveUp(f"no answer within {PATIENCE:g} s; at last {why}")
        time.sleep(0.05)

    def note(self, way: str, jobs: dict[str, Job], line: bytes) -> None:
        """One verdict: it must be its job's only one, and the right one."""
        result = json.loads(line)
        job = jobs.pop(result["id"], None)
        if job is None:
            return self.tally.fault(f"{result['id']}: a second verdict, or one of no job: {result['label']}")
        with self.tally.lock:
            self.tally.verdicts += 1
            self.tally.labels[result["label"]] += 1
            self.tally.ways[way] += 1
        if result["label"] == "SandboxError":
            with self.tally.lock:
                self.tally.troubles[json.dumps(result["detail"])] += 1
            if result["detail"].get("step") != "pilot":
                self.tally.fault(f"{result['id']}: {line[:400]!r}")
        elif result["label"] != job.label or (job.output is not None and result["stdout"].get("text") != job.output):
            self.tally.fault(f"{result['id']}: {job.label} expected: {line[:400]!r}")
        return None

    def stream(self, size: int) -> None:
        """Answered as the jobs end. What a router that is lost has not answered is sent again as new jobs."""
        jobs, until = self.jobs(size), time.monotonic() + PATIENCE
        while jobs:
            body = b"".join(json.dumps(job.line).encode() + b"\n" for job in jobs.values())
            why: object = "a refusal"
            try:
                with self.asking("POST", "/v1/batches", body) as answer:
                    if answer.status == 200:
                        for line in answer:
                            self.note("stream", jobs, line)
                        until = time.monotonic() + PATIENCE
                    why = f"status {answer.status}, {len(jobs)} jobs left"
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = repr(error)
            if jobs:
                self.pause(until, why)

    def durable(self, size: int) -> None:
        """Acknowledged once, by whichever router, however often it is sent; then each verdict is there for all time."""
        jobs, until = self.jobs(size), time.monotonic() + PATIENCE
        body = b"".join(json.dumps(job.line).encode() + b"\n" for job in jobs.values())
        key, places = f"{self.number}-{self.batches}", set()
        for _ in range(self.chance.choice((1, 1, 2))):  # Some do not trust the first answer.
            places.add(self.acknowledged(body, key, until))
        if len(places) != 1:
            return self.tally.fault(f"key {key}: acknowledged as {places}")
        return self.collect(places.pop(), jobs)

    def acknowledged(self, body: bytes, key: str, until: float) -> str:
        while True:
            try:
                with self.asking("POST", "/v1/batches?async=1&durable=1", body, key) as answer:
                    said = answer.read()
                    if answer.status == 202:
                        return str(answer.getheader("Location"))
                    if answer.status not in (429, 502, 503):
                        self.tally.fault(f"key {key}: status {answer.status}: {said[:200]!r}")
                    why: object = f"status {answer.status}: {said[:200]!r}"
            except (OSError, http.client.HTTPException) as error:
                why = repr(error)
            self.pause(until, why)

    def collect(self, place: str, jobs: dict[str, Job]) -> None:
        got, total, until = 0, len(jobs), time.monotonic() + PATIENCE
        while got < total:
            why: object = "nothing new"
            try:
                with self.asking("GET", f"{place}?wait=20&after={got}") as answer:
                    if answer.status not in (200, 502, 503):
                        self.tally.fault(f"{place}: status {answer.status}")
                    lines = answer if answer.status == 200 else ()
                    for line in lines:
                        json.loads(line)  # A line that breaks off is none.
                        self.note("durable", jobs, line)
                        got, until = got + 1, time.monotonic() + PATIENCE
                    why = f"status {answer.status}"
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = repr(error)
            if got < total:
                self.pause(until, f"{why}; {total - got} verdicts of {place} left")
