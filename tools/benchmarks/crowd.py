"""A crowd of hostile programs and honest neighbours in one pool: whether anybody notices anybody.

Each honest program runs alone first. Then all are queued at once, in an order of chance, and as many run as was asked
for. Then the honest ones run alone again, on what the crowd has left of the pool.
"""
import contextlib
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import host

from .crowd_programs import Member, hostile, honest, told_by
from .fence import left_in
from .lateness import lateness
from .system import held, tails

PROGRESS_SECONDS = 5.0
SETTLE_SECONDS = 10.0  # for the dead to be buried
END_SECONDS = 60.0
MOST_LATE = 10


@dataclass
class Plan:
    zygo: Path
    hostile: int
    honest: int
    running: int
    seed: int
    seconds: float  # for one verdict to come
    max_kill_ms: float | None = None
    fence: tuple[Path, ...] = ()  # groups that zygo's are below; none: what it leaves there is not looked at
    options: tuple[str, ...] = ()  # of zygo batch
    only: str | None = None  # one family of what is drawn
    results: Path | None = None  # where all results go
    verifies: bool = False  # the memory that jobs borrow is compared with its first state after each


@dataclass
class Report:
    seed: int = 0
    running: int = 0
    hostile: int = 0
    honest: int = 0
    seconds: float = 0
    lost: list[str] = field(default_factory=list)  # jobs without a verdict
    doubled: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)  # honest jobs whose verdict or output was another than alone
    wrong: list[str] = field(default_factory=list)  # hostile jobs with a verdict that they must not have
    leftovers: list[str] = field(default_factory=list)
    exit_code: int | None = None
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)  # labels of each kind of program
    kill_ms: dict[str, float] = field(default_factory=dict)  # from a deadline until all kills were sent
    reap_ms: dict[str, float] = field(default_factory=dict)  # from then on until the program was reaped
    killed: int = 0  # at a wall limit
    borrowed: int = 0  # jobs of the crowd that borrowed the memory of their cell
    latest: dict[str, float] = field(default_factory=dict)  # whose end came last after their deadlines: ms
    rss_kb: dict[str, int] = field(default_factory=dict)  # of the daemon
    faulty: list[dict] = field(default_factory=list)  # the jobs of all faults, to try again
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict:
        return asdict(self)


def progress(text: str) -> None:
    print(f"crowd: {text}", file=sys.stderr, flush=True)


def crowd(plan: Plan) -> Report:
    report = Report(plan.seed, plan.running)
    neighbours, strangers = honest(plan.honest), hostile(plan.hostile, plan.seed, plan.only)
    report.honest, report.hostile = len(neighbours), len(strangers)
    host.adopt_orphans()
    before, mounted = set(host.descendants(os.getpid())), host.mounts()
    with tempfile.TemporaryDirectory(prefix="crowd-") as scratch:
        os.chmod(scratch, 0o711)  # below level full, jobs of other ids walk through it
        with _Pool(plan, scratch) as pool:
            run = _Run(plan, report, pool)
            run.all(neighbours, strangers)
        report.exit_code = pool.code
        report.leftovers += _leftovers(plan, before, mounted, scratch)
    _judge(plan, report)
    return report


class _Pool:
    """A `zygo batch` that stays. It remembers no ids, so all memory that grows with the jobs is lost."""

    def __init__(self, plan: Plan, scratch: str):
        command = [str(plan.zygo), "batch", "-", "--quiet", "--any-id", "--workers", str(plan.running), *plan.options]
        if plan.verifies:
            command.append("--verify-rollback")
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         env={**os.environ, "TMPDIR": scratch})
        self._seconds = plan.seconds
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.pid = self._process.pid
        self.code: int | None = None

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self.code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(END_SECONDS)
        if not self._reader.is_alive():
            self._process.stdout.close()

    def give_up(self) -> None:
        """Whoever still writes to it is told so."""
        self._process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self._process.kill()

    def send(self, jobs: Iterable[dict]) -> None:
        """Of a pool that has ended, the missing results tell."""
        with contextlib.suppress(BrokenPipeError):
            for job in jobs:
                self._process.stdin.write(json.dumps(job).encode() + b"\n")
                self._process.stdin.flush()

    def results(self, count: int) -> Iterable[dict]:
        """As they come; fewer, when none comes for too long or the pool has ended."""
        for _ in range(count):
            try:
                line = self._lines.get(timeout=self._seconds)
            except queue.Empty:
                return
            if not line:
                return
            yield json.loads(line)

    def _read(self) -> None:
        """A line may have many megabytes, and the pool is never to wait for us."""
        while line := self._process.stdout.readline():
            self._lines.put(line)
        self._lines.put(b"")


class _Run:
    def __init__(self, plan: Plan, report: Report, pool: _Pool):
        self._plan, self._report, self._pool = plan, report, pool
        self._kill_ms: list[float] = []
        self._reap_ms: list[float] = []
        self._ended_ms: dict[str, float] = {}  # after the deadline
        self._labels: dict[str, Counter[str]] = {}

    def all(self, neighbours: list[Member], strangers: list[Member]) -> None:
        report, pool = self._report, self._pool
        alone = self._alone(neighbours, "alone")
        if report.lost or report.moved:
            return
        first = held(pool.pid)
        members = neighbours + strangers
        random.Random(self._plan.seed).shuffle(members)
        start = time.perf_counter()
        self._together(members, alone)
        report.seconds = round(time.perf_counter() - start, 2)
        if report.lost:
            return
        self._settle()
        again = self._alone(neighbours, "again")
        for name, result in again.items():
            self._move(f"{name}, after the crowd", alone.get(name), result)
        last = held(pool.pid)
        report.rss_kb = {"first": first.get("rss_kb", 0), "last": last.get("rss_kb", 0)}
        report.kinds = {kind: dict(labels.most_common()) for kind, labels in sorted(self._labels.items())}
        report.killed = len(self._reap_ms)
        latest = sorted(self._ended_ms.items(), key=lambda item: -item[1])
        report.latest = {name: round(late, 1) for name, late in latest[:MOST_LATE]}
        for values, name in ((self._kill_ms, "kill_ms"), (self._reap_ms, "reap_ms")):
            if values:
                setattr(report, name, {key: round(value, 2) for key, value in tails(values).items()})

    def _alone(self, neighbours: list[Member], when: str) -> dict[str, dict]:
        found = {}
        for member in neighbours:
            name = member.job["id"]
            self._pool.send([{**member.job, "id": f"{when} {name}"}])
            for result in self._pool.results(1):
                found[name] = result
                if result["id"] != f"{when} {name}":
                    self._report.doubled.append(result["id"])
            if name not in found:
                self._report.lost.append(f"{name}, {when}")
                break
            if said := member.fault(found[name]):
                self._report.moved.append(f"{name}, {when}: {said}")
        return found

    def _together(self, members: list[Member], alone: dict[str, dict]) -> None:
        writer = threading.Thread(target=self._pool.send, args=((each.job for each in members),), daemon=True)
        writer.start()
        waiting = {member.job["id"]: member for member in members}
        told = time.monotonic()
        with open(self._plan.results or os.devnull, "w") as kept:
            for result in self._pool.results(len(members)):
                if member := waiting.pop(result["id"], None):
                    self._compare(member, result, alone)
                else:
                    self._report.doubled.append(result["id"])
                if self._plan.results:
                    kept.write(json.dumps(result) + "\n")
                if time.monotonic() - told > PROGRESS_SECONDS:
                    told = time.monotonic()
                    progress(f"{len(members) - len(waiting)} of {len(members)} verdicts")
        if waiting:
            self._pool.give_up()
        writer.join()
        for name, member in waiting.items():
            self._report.lost.append(name)
            self._report.faulty.append(member.job)

    def _compare(self, member: Member, result: dict, alone: dict[str, dict]) -> None:
        name = member.job["id"]
        self._labels.setdefault(member.kind, Counter())[result["label"]] += 1
        self._report.borrowed += "rollback" in result["timing_us"]
        self._time(member, result)
        if member.honest:
            self._move(name, alone[name], result, member.job)
        elif said := member.fault(result):
            self._report.wrong.append(f"{name}: {said}")
            self._report.faulty.append(member.job)

    def _move(self, name: str, alone: dict | None, result: dict, job: dict | None = None) -> None:
        if alone is None or told_by(alone) == told_by(result):
            return
        before, now = told_by(alone), told_by(result)
        parts = [part for part in before if before[part] != now[part]]
        said = "; ".join(f"{part} {json.dumps(before[part])[:200]} -> {json.dumps(now[part])[:200]}" for part in parts)
        self._report.moved.append(f"{name}: {said} {json.dumps(result['detail'])[:200]} {json.dumps(result['usage'])}")
        if job:
            self._report.faulty.append(job)

    def _time(self, member: Member, result: dict) -> None:
        if late := lateness(result):
            if late.kill_ms is not None:
                self._kill_ms.append(late.kill_ms)
            self._reap_ms.append(late.reap_ms)
            self._ended_ms[member.job["id"]] = late.ended_ms

    def _settle(self) -> None:
        """No job is left in any cell; there is no event for the burial of the dead."""
        until = time.monotonic() + SETTLE_SECONDS
        while left := host.chains_of(self._pool.pid):
            if time.monotonic() > until:
                self._report.leftovers.append(f"processes of jobs in cells: {left[:5]}")
                return
            time.sleep(0.02)


def _leftovers(plan: Plan, before: set[int], mounted: set[str], scratch: str) -> list[str]:
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        found = [f"process {pid} {host.name_of(pid)}" for pid in sorted(host.descendants(os.getpid()) - before)]
        found += [f"group {path}" for path in left_in(plan.fence)]
        found += [f"mount {line}" for line in sorted(host.mounts() - mounted)]
        found += [f"file {scratch}/{name}" for name in os.listdir(scratch)]
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def _judge(plan: Plan, report: Report) -> None:
    late = report.kill_ms.get("p99", 0)
    for is_broken, sentence in (
        (report.lost, f"{len(report.lost)} jobs had no verdict"),
        (report.doubled, f"{len(report.doubled)} verdicts came twice, or for nobody"),
        (report.moved, f"{len(report.moved)} verdicts of honest programs moved"),
        (report.wrong, f"{len(report.wrong)} verdicts of hostile programs were wrong"),
        (report.leftovers, f"{len(report.leftovers)} things were left behind"),
        (report.exit_code not in (0, 1), f"the pool ended with {report.exit_code}"),
        (plan.verifies and not report.borrowed, "no job borrowed memory, so there was nothing to verify"),
        (plan.max_kill_ms is not None and not report.kill_ms, "the results do not say when kills were sent"),
        (plan.max_kill_ms is not None and late > plan.max_kill_ms,
         f"kills were sent {late} ms after their deadline at the 99th percentile"),
    ):
        if is_broken:
            report.problems.append(sentence)


def text(report: Report) -> str:
    def times(values: dict[str, float]) -> str:
        return " / ".join(f"{value:,.1f}" for value in values.values()) or "-"

    lines = [
        f"crowd          {report.hostile:,} hostile and {report.honest:,} honest programs, {report.running} at once, seed "
        f"{report.seed}: {report.seconds:,.0f} s",
        f"verdicts       lost {len(report.lost)}, twice {len(report.doubled)}, wrong {len(report.wrong)}; of honest "
        f"programs moved: {len(report.moved)}",
        f"deadlines      {report.killed:,} met; ms p50 / p99 / max until the kill: {times(report.kill_ms)}, from there to "
        f"the reaping: {times(report.reap_ms)}",
        f"latest         {', '.join(f'{name} {late:,.0f} ms' for name, late in list(report.latest.items())[:4]) or '-'}",
        f"memory         kB of the daemon: {report.rss_kb.get('first')} before, {report.rss_kb.get('last')} after; "
        f"{report.borrowed:,} jobs borrowed their cell's",
    ]
    for kind, labels in report.kinds.items():
        shown = ", ".join(f"{label} {count}" for label, count in list(labels.items())[:6])
        lines.append(f"  {kind:12} {shown}{', ...' if len(labels) > 6 else ''}")
    for sentence, items in (("lost", report.lost), ("twice", report.doubled), ("moved", report.moved),
                            ("wrong", report.wrong), ("left", report.leftovers)):
        lines += [f"  {sentence}: {item}" for item in items[:20]]
    return "\n".join(lines + [f"! {problem}" for problem in report.problems])
