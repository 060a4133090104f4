"""A service under more than it can do: how much it takes, how it refuses the rest, and what it never may do.

First as many clients as keep all workers busy find out what it can sustain. Then requests come at a multiple of that
rate, whether the ones before are answered or not, for as long as was asked for; at a multiple of what it has shown
since, if that is more, because the machine may have been busy at first.
"""
import itertools
import json
import random
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .http_client import Answer, Clients, Server, request
from .system import BenchError, held, percentile, progress

PROBE_SECONDS = 3.0
SAMPLE_SECONDS = 1.0
SAMPLES_OF_RATE = 10  # a service that does more than it could at first is offered more
SPARE_CONNECTIONS = 64  # for requests that are being refused
DRAIN_SECONDS = 60.0
# Memory is still flat if it grows by a tenth, and by as much as the allocator may keep.
MEMORY_SHARE, MEMORY_KB = 1.1, 16 << 10
# An accepted job waits for those before it; on a busy machine several times as long.
WAIT_SHARE, WAIT_SECONDS = 4.0, 1.0
SOURCE = "import time\ntime.sleep(%.4f)\nprint(%r)\n"


@dataclass
class Plan:
    zygo: Path
    seconds: float
    times: float = 2.0  # the sustainable rate
    workers: int = 4
    queue: int = 64
    job_ms: float = 5.0
    options: tuple[str, ...] = ()  # of zygo serve


@dataclass
class Report:
    sustainable_per_second: float = 0
    offered_per_second: float = 0
    seconds: float = 0
    offered: int = 0
    accepted: int = 0
    refused: int = 0
    held_back: int = 0  # no connection was free when they were due: sent later, or never
    lost: int = 0
    doubled: int = 0
    wrong: int = 0  # answers that were not what the job prints
    without_retry_after: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    accepted_ms: dict[str, float] = field(default_factory=dict)
    refused_ms: dict[str, float] = field(default_factory=dict)
    most_ms: float = 0  # that an accepted job's 99th percentile may be
    retry_after_seconds: dict[str, int] = field(default_factory=dict)
    rss_kb: list[int] = field(default_factory=list)  # of the daemon, over time
    fds: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict:
        return asdict(self)


def overload(plan: Plan) -> Report:
    report = Report()
    connections = plan.queue + 2 * plan.workers + SPARE_CONNECTIONS
    options = ("--workers", str(plan.workers), "--queue", str(plan.queue), "--connections", str(connections + 8))
    with Server(plan.zygo, *options, *plan.options) as server:
        report.sustainable_per_second = sustainable(server, plan)
        counted = server.jobs_told()
        run = _Run(plan, report)
        with Clients(server.port, connections) as clients:
            run.offer(server, clients)
            run.drain(clients)
            report.lost, report.doubled = len(clients.lost) + clients.waiting, clients.strays
        run.judge(server, counted)
        if server.ended() is not None:
            report.problems.append(f"the service has ended with {server.ended()}: {server.complaints()}")
    return report


def sustainable(server: Server, plan: Plan) -> float:
    """Jobs a second, twice as many under way as there are workers, so that none is idle."""
    jobs = (_job(f"probe-{number}", plan) for number in itertools.count())
    with Clients(server.port, 2 * plan.workers) as clients:
        clients.windowed(itertools.islice(jobs, 8 * plan.workers))  # warm
        start = time.perf_counter()

        def until_over():
            while time.perf_counter() - start < PROBE_SECONDS:
                yield next(jobs)

        answers = clients.windowed(until_over())
        seconds = time.perf_counter() - start
    if any(answer.status != 200 for answer in answers):
        raise BenchError(f"refused without any overload: {Counter(answer.status for answer in answers)}")
    return len(answers) / seconds


def _job(name: str, plan: Plan) -> tuple[str, bytes]:
    job = {"id": name, "source": SOURCE % (plan.job_ms / 1000, name)}
    return name, request(json.dumps(job).encode())


class _Run:
    def __init__(self, plan: Plan, report: Report):
        self._plan, self._report = plan, report
        self._times: dict[bool, list[float]] = {True: [], False: []}
        self._statuses: Counter[int] = Counter()
        self._waits: Counter[str] = Counter()
        self._names: set[str] = set()  # that have a verdict
        self._mark = (0.0, 0)  # when the rate was last looked at, and the accepted by then

    def offer(self, server: Server, clients: Clients) -> None:
        """Requests at their times, come what may."""
        report, plan = self._report, self._plan
        serial, sample, rate = itertools.count(), 0.0, 1.0
        arrivals = random.Random(1)  # the same in every run; at random moments, as strangers are
        start = time.perf_counter()
        due = start
        while (now := time.perf_counter()) - start < plan.seconds:
            if now - start >= sample:
                rate = self._rate(now)
                self._look_at(server)
                sample += SAMPLE_SECONDS
            while due <= now:
                due += arrivals.expovariate(rate)
                report.offered += 1
                if clients.free:
                    clients.send(*_job(f"job-{next(serial)}", plan))
                else:
                    report.held_back += 1
            for answer in clients.hear(min(due - now, SAMPLE_SECONDS)):
                self._note(answer)
        report.seconds = time.perf_counter() - start
        self._look_at(server)

    def drain(self, clients: Clients) -> None:
        until = time.perf_counter() + DRAIN_SECONDS
        while clients.waiting and time.perf_counter() < until:
            for answer in clients.hear(1.0):
                self._note(answer)

    def _rate(self, now: float) -> float:
        """Of the offers, by what the service has shown that it can do."""
        report = self._report
        if len(report.rss_kb) % SAMPLES_OF_RATE == 0:
            since, accepted = self._mark
            self._mark = (now, report.accepted)
            if since:
                shown = (report.accepted - accepted) / (now - since)
                report.sustainable_per_second = max(report.sustainable_per_second, shown)
        report.offered_per_second = self._plan.times * report.sustainable_per_second
        return report.offered_per_second

    def _look_at(self, server: Server) -> None:
        now = held(server.pid)
        if not now:
            raise BenchError(f"the service has ended: {server.complaints()}")
        if len(self._report.rss_kb) % 60 == 0:
            progress(f"overload: {len(self._report.rss_kb)} s, {self._report.accepted} accepted, "
                     f"{self._report.refused} refused, {now['rss_kb']} kB")
        self._report.rss_kb.append(now["rss_kb"])
        self._report.fds = {"most": max(now["fds"], self._report.fds.get("most", 0)), "last": now["fds"]}

    def _note(self, answer: Answer) -> None:
        report = self._report
        self._statuses[answer.status] += 1
        self._times[answer.status == 200].append(answer.seconds * 1000)
        if answer.status == 200:
            report.accepted += 1
            result = json.loads(answer.body)
            fine = result["label"] == "OK" and result["id"] == answer.name and \
                result["stdout"]["text"] == answer.name + "\n"
            report.wrong += not fine
            report.doubled += answer.name in self._names
            self._names.add(answer.name)
            return
        report.refused += 1
        wait = answer.header(b"retry-after").decode()
        self._waits[wait] += 1
        report.without_retry_after += answer.status != 429 or not wait.isdecimal() or int(wait) < 1

    def judge(self, server: Server, counted: int) -> None:
        """What is broken, in sentences."""
        report, plan = self._report, self._plan
        report.statuses = {str(status): count for status, count in sorted(self._statuses.items())}
        report.retry_after_seconds = dict(sorted(self._waits.items()))
        for which, name in ((True, "accepted_ms"), (False, "refused_ms")):
            if times := self._times[which]:
                tails = {"p50": percentile(times, 0.5), "p99": percentile(times, 0.99), "max": max(times)}
                setattr(report, name, {key: round(value, 2) for key, value in tails.items()})
        wait = (plan.queue + 3 * plan.workers) / report.sustainable_per_second
        report.most_ms = round(1000 * (WAIT_SHARE * wait + WAIT_SECONDS), 1)
        verdicts = server.jobs_told() - counted
        for is_broken, sentence in (
            (report.lost, f"{report.lost} requests had no answer"),
            (report.doubled, f"{report.doubled} answers came twice, or for nobody"),
            (report.wrong, f"{report.wrong} verdicts were wrong"),
            (report.without_retry_after, f"{report.without_retry_after} refusals were no 429 with a Retry-After"),
            (verdicts != report.accepted, f"the service counts {verdicts} verdicts, its clients {report.accepted}"),
            (not report.accepted, "nothing was accepted"),
            (not report.refused, "nothing was refused, so this was no overload"),
            (report.accepted_ms.get("p99", 0) > report.most_ms, "accepted jobs wait without bounds"),
            (self._grows(), "the memory of the service grows"),
        ):
            if is_broken:
                report.problems.append(sentence)

    def _grows(self) -> bool:
        """The last fifth of the time against the second."""
        samples, fifth = self._report.rss_kb, len(self._report.rss_kb) // 5
        if not fifth:
            return False
        early, late = sorted(samples[fifth:2 * fifth]), sorted(samples[-fifth:])
        return late[fifth // 2] > MEMORY_SHARE * early[fifth // 2] + MEMORY_KB


def text(report: Report) -> str:
    rss = report.rss_kb
    tenths = [rss[round(share / 10 * (len(rss) - 1))] for share in range(11)] if rss else []

    def times(values: dict[str, float]) -> str:
        return " / ".join(f"{value:,.1f}" for value in values.values()) or "-"

    per_second = report.offered / max(report.seconds, 1e-9)
    lines = [
        f"sustainable    {report.sustainable_per_second:,.0f} jobs/s",
        f"offered        {report.offered:,} in {report.seconds:,.0f} s: {per_second:,.0f}/s"
        + (f", {report.held_back:,} of them not sent for want of a connection" if report.held_back else ""),
        f"accepted       {report.accepted:,}; ms p50 / p99 / max: {times(report.accepted_ms)}"
        f" (p99 may be {report.most_ms:,.0f})",
        f"refused        {report.refused:,}; ms p50 / p99 / max: {times(report.refused_ms)};"
        f" Retry-After: {', '.join(f'{key} s {count:,}x' for key, count in report.retry_after_seconds.items()) or '-'}",
        f"lost, doubled  {report.lost}, {report.doubled}; wrong: {report.wrong}",
        f"memory         kB in tenths of the time: {' '.join(map(str, tenths))}",
        f"descriptors    at most {report.fds.get('most')}, at last {report.fds.get('last')}",
    ]
    return "\n".join(lines + [f"! {problem}" for problem in report.problems])
