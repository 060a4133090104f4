"""One trial: clients on the one side, accidents on the other, and what must be so at the end."""
from __future__ import annotations

import http.client
import json
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .cast import OPERATOR, Cast
from .clients import Client, Tally

PROGRESS = 10.0  # Seconds.
SETTLING = 180.0  # Seconds, until nothing is under way any more.
ACCIDENTS = ("kill pilot", "end pilot", "freeze pilot", "freeze pilot", "cut", "cut", "hold up", "hold up",
             "kill router", "freeze router")


@dataclass
class Report:
    jobs: int
    seconds: float
    tally: Tally
    accidents: Counter[str]
    restarts: int
    doubles: int
    problems: list[str]

    def as_json(self) -> dict[str, Any]:
        return {"ok": not self.problems, "jobs": self.jobs, "verdicts": self.tally.verdicts, "seconds": round(self.seconds, 1),
                "labels": dict(self.tally.labels), "ways": dict(self.tally.ways), "asked_again": self.tally.asked_again,
                "troubles": dict(self.tally.troubles), "accidents": dict(self.accidents), "restarts": self.restarts,
                "doubles_dropped": self.doubles, "problems": self.problems[:100]}

    def text(self) -> str:
        lines = [f"{self.tally.verdicts} verdicts of {self.jobs} jobs in {self.seconds:.0f} s; asked again "
                 f"{self.tally.asked_again} times; {self.restarts} jobs started again, {self.doubles} doubles dropped",
                 "labels     " + ", ".join(f"{label} {count}" for label, count in self.tally.labels.most_common()),
                 "accidents  " + ", ".join(f"{what} {count}" for what, count in sorted(self.accidents.items()))]
        lines += [f"trouble    {count} times {detail}" for detail, count in self.tally.troubles.most_common(5)]
        lines += [f"! {problem}" for problem in self.problems[:50]]
        return "\n".join([*lines, "all held" if not self.problems else f"{len(self.problems)} did not hold"])


def pilots_of(port: int) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/v1/pilots", headers={"Authorization": f"Bearer {OPERATOR}"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
    finally:
        connection.close()


class Trial:
    def __init__(self, cast: Cast, jobs: int, clients: int, seed: int, pace: float) -> None:
        self.cast, self.pace = cast, pace
        self.chance = random.Random(seed)
        self.tally = Tally(jobs)
        self.clients = [Client(number, seed, cast.ports, self.tally) for number in range(clients)]
        self.accidents: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()  # Of routers that are gone.
        self.timers: list[threading.Timer] = []

    def run(self) -> Report:
        self.await_pilots()
        began = told = time.monotonic()
        for client in self.clients:
            client.start()
        while any(client.is_alive() for client in self.clients):
            time.sleep(self.chance.uniform(0.1, 0.9) * 2 * self.pace)
            if self.tally.verdicts < self.tally.wanted:
                self.accident()
            if gone := [router.name for router in self.cast.routers if router.process.poll() is not None]:
                raise TimeoutError(f"{gone} ended by themselves: see {self.cast.folder}")
            if time.monotonic() > told + PROGRESS:
                told = time.monotonic()
                self.tell(told - began)
        seconds = time.monotonic() - began
        for timer in self.timers:
            timer.join()
        problems = self.tally.problems + self.settle()
        if self.tally.verdicts != self.tally.wanted:
            problems.append(f"{self.tally.verdicts} verdicts of {self.tally.wanted} jobs")
        for port in self.cast.ports:
            self.keep_counts(port)
        problems += [f"process {pid} is left" for pid in self.cast.end()]
        return Report(self.tally.wanted, seconds, self.tally, self.accidents, self.counts["restarts"], self.counts["doubles"],
                      problems)

    def tell(self, seconds: float) -> None:
        rate = self.tally.verdicts / seconds
        left = (self.tally.wanted - self.tally.verdicts) / rate if rate else 0
        print(f"chaos: {self.tally.verdicts} of {self.tally.wanted} verdicts, {rate:.0f}/s, ETA {left:.0f} s, "
              f"{sum(self.accidents.values())} accidents, {len(self.tally.problems)} problems", file=sys.stderr, flush=True)

    def until(self, holds: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if holds():
                    return True
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.1)
        return False

    def await_pilots(self) -> None:
        def all_ready(port: int) -> bool:
            states = [pilot["state"] for pilot in pilots_of(port)["pilots"]]
            return states.count("ready") == len(self.cast.pilots)

        for port in self.cast.ports:
            if not self.until(lambda port=port: all_ready(port), SETTLING):  # type: ignore[misc]
                raise TimeoutError(f"not all pilots have joined the router at port {port}: see {self.cast.folder}")

    def settle(self) -> list[str]:
        def is_quiet(port: int) -> bool:
            told = pilots_of(port)
            return sum(pilot["jobs"] for pilot in told["pilots"]) == 0

        return [f"the router at port {port} has jobs that nobody waits for" for port in self.cast.ports
                if not self.until(lambda port=port: is_quiet(port), SETTLING)]  # type: ignore[misc]

    def keep_counts(self, port: int) -> None:
        try:
            told = pilots_of(port)
        except (OSError, http.client.HTTPException, ValueError):
            return
        for name in ("restarts", "doubles"):
            self.counts[name] += told[name]

    def later(self, undo: Callable[[], None]) -> None:
        timer = threading.Timer(self.chance.uniform(0.3, 3), undo)
        timer.daemon = True
        timer.start()
        self.timers = [each for each in self.timers if each.is_alive()] + [timer]

    def accident(self) -> None:
        what = self.chance.choice(ACCIDENTS)
        if "router" in what:
            done = self.strike_router(what)
        elif "pilot" in what:
            done = self.strike_pilot(what)
        else:
            done = self.strike_way(what)
        self.accidents[what] += done

    def strike_router(self, what: str) -> bool:
        index = self.chance.randrange(len(self.cast.routers))
        router = self.cast.routers[index]
        if any(each.frozen for each in self.cast.routers):  # One at a time: somebody should answer.
            return False
        if what == "freeze router":
            router.freeze()
            self.later(router.thaw)
            return True
        self.keep_counts(self.cast.ports[index])
        self.check_left(what, router.end(signal.SIGKILL))
        self.cast.routers[index] = self.cast.start_router(index)
        return True

    def strike_pilot(self, what: str) -> bool:
        index = self.chance.randrange(len(self.cast.pilots))
        pilot = self.cast.pilots[index]
        if pilot.frozen:
            return False
        if what == "freeze pilot":
            pilot.freeze()
            self.later(pilot.thaw)
            return True
        self.cast.pilots[index] = self.cast.start_pilot()
        if what == "kill pilot":
            self.check_left(what, pilot.end(signal.SIGKILL))
        else:
            threading.Thread(target=lambda: self.check_left(what, pilot.end(signal.SIGTERM)), daemon=True).start()
        return True

    def check_left(self, what: str, left: list[int]) -> None:
        if left:
            self.tally.fault(f"{what}: processes {left} are left")

    def strike_way(self, what: str) -> bool:
        relay = self.chance.choice(self.chance.choice(self.cast.pilots).relays)
        if what == "cut":
            relay.cut()
        else:
            relay.held.clear()
            self.later(relay.held.set)
        return True
