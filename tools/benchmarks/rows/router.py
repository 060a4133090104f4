"""What a router costs: jobs that it routes in a second of its own CPU time, and what it adds to one job.

The last part is the ARC batch over four pilots of one worker, against the same batch in one embedded pool.

The rate is with pilots that run nothing (tools/benchmarks/stub_pilot), and batches of 32. The latency is that of a real
pilot's job by way of `zygo route`, and of the same job by `zygo serve`; rounds of both alternate.
"""
import contextlib
import json
import select
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from .. import arc_jobs
from ..coprocess import AWAKE_BELOW, NAP_SECONDS
from ..http_client import PATIENCE_SECONDS, Clients, Server, request
from ..report import Section
from ..setting import WARM_UP, Setting, jobs_of, wrong_answers
from ..system import BenchError, cpu_seconds, percentile, pinned, progress, ratios, spread
from ..turns import turn

STUBS, STUB_WORKERS = 2, 256
BATCH, CONNECTIONS = 32, 8
ROUNDS = 50
PILOTS = 4
TEMPLATE = "python"
END_OF_CHUNKS = b"\r\n0\r\n\r\n"


def router(setting: Setting) -> list[Section]:
    return [_rate(setting), _latency(setting), _join(setting), _arc(setting)]


def _rate(setting: Setting) -> Section:
    section = Section("router", f"jobs in batches of {BATCH} over pilots that run nothing, by the router's own CPU time",
                      part="rate")
    stub = setting.zygo.with_name("zygo-stub-pilot")
    if not stub.exists():
        section.skipped.append(f"rate: {stub} is not built")
        return section
    with Server(setting.zygo, command="route") as server, _stubs(stub, server):
        _batches(server.port, 10)
        rates, seconds = [], []
        for turn in range(setting.effort.rounds):
            progress(f"router: rate {turn + 1}/{setting.effort.rounds}")
            before, began = cpu_seconds(server.pid), time.perf_counter()
            jobs = _batches(server.port, setting.effort.jobs)
            seconds.append(jobs / (time.perf_counter() - began))
            rates.append(jobs / (cpu_seconds(server.pid) - before))
        section.records.append({"jobs": setting.effort.jobs * BATCH, "jobs_per_cpu_second": spread(rates),
                                "jobs_per_second": spread(seconds)})
    return section


@contextlib.contextmanager
def _stubs(stub: Path, server: Server) -> Iterator[None]:
    command = [str(stub), f"http://127.0.0.1:{server.port}", str(STUB_WORKERS)]
    stubs = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(STUBS)]
    try:
        _await_pilots(server, STUBS)
        yield
    finally:
        for each in stubs:
            each.kill()
            each.wait()


def _await_pilots(server: Server, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while server.get("/v1/pilots").count('"ready"') < count:
        if time.monotonic() > deadline:
            raise BenchError(f"{count} pilots did not join")
        time.sleep(0.01)


def _batches(port: int, count: int) -> int:
    """So many batches over a few connections; the number of jobs that were OK."""
    body = b"".join(jobs_of(TEMPLATE, "tiny", BATCH).values())
    data = b"POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    pending = {sock.fileno(): (sock, bytearray()) for sock in
               (socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) for _ in range(CONNECTIONS))}
    poll = select.epoll()
    left, jobs = count, 0
    for number, (sock, _) in pending.items():
        poll.register(number, select.EPOLLIN)
        if left > 0:
            sock.sendall(data)
            left -= 1
    ended = 0
    while ended < count:
        heard = poll.poll(PATIENCE_SECONDS)
        if not heard:
            raise BenchError(f"no results for {PATIENCE_SECONDS} s")
        for number, _ in heard:
            sock, text = pending[number]
            text += sock.recv(1 << 18)
            if not text.endswith(END_OF_CHUNKS):
                continue
            if text.count(b'"label":"OK"') != BATCH:
                raise BenchError(f"not all jobs of a batch were OK: {bytes(text[:600])!r}")
            jobs += BATCH
            ended += 1
            text.clear()
            if left > 0:
                sock.sendall(data)
                left -= 1
    poll.close()
    for sock, _ in pending.values():
        sock.close()
    return jobs


def _latency(setting: Setting) -> Section:
    section = Section("router", "a tiny job by way of a router and directly, microseconds at the median; A B A B",
                      part="latency")
    for where, cpus in (("one CPU", set(setting.cpus[:1])), ("all CPUs", set(setting.cpus))):
        progress(f"router: latency on {where}")
        with pinned(cpus), Server(setting.zygo, "--workers", "1") as direct, _routed(setting) as routed, \
                Clients(direct.port, 1) as plain, Clients(routed.port, 1) as far:
            _ask(plain, WARM_UP)
            _ask(far, WARM_UP)
            share = max(1, setting.effort.asks // ROUNDS)
            ours, theirs, answers = [], [], []
            for _ in range(ROUNDS):
                for clients, into in ((plain, theirs), (far, ours)):
                    heard = _ask(clients, share)
                    into.append(percentile([answer.seconds * 1e6 for answer in heard], 0.5))
                    answers += [json.loads(answer.body) for answer in heard]
            section.problems += wrong_answers(answers, "tiny")
            section.records.append({
                "where": where, "jobs": share * ROUNDS, "routed_us": spread(ours), "direct_us": spread(theirs),
                "more_us": spread([a - b for a, b in zip(ours, theirs, strict=True)]),
            })
    return section


@contextlib.contextmanager
def _routed(setting: Setting) -> Iterator[Server]:
    with Server(setting.zygo, command="route") as server, _pilot(setting, server):
        _await_pilots(server, 1)
        yield server


def _arc(setting: Setting) -> Section:
    jobs = arc_jobs.load(setting)
    section = Section("router", f"{len(jobs)} ARC programs over {PILOTS} pilots of one worker, against one embedded pool; A B A B",
                      part="arc")
    rates: dict[str, list[float]] = {"routed": [], "embedded": []}
    with setting.coprocess() as embedded, Server(setting.zygo, command="route") as server, contextlib.ExitStack() as pilots:
        for _ in range(PILOTS):
            pilots.enter_context(_pilot(setting, server))
        _await_pilots(server, PILOTS)
        few = arc_jobs.evenly(jobs, WARM_UP)
        embedded.run(arc_jobs.payload(few, "warm"), len(few))
        _one_batch(server.port, arc_jobs.payload(few, "warm"))
        for number in range(setting.effort.rounds):
            progress(f"router: ARC {number + 1}/{setting.effort.rounds}")
            run = turn(embedded, arc_jobs.payload(jobs, f"embedded{number}"), len(jobs))
            rates["embedded"].append(len(jobs) / run.seconds)
            seconds, results = _one_batch(server.port, arc_jobs.payload(jobs, f"routed{number}"))
            rates["routed"].append(len(jobs) / seconds)
            ours, theirs = arc_jobs.labels(results), arc_jobs.labels(run.results())
            differ = sorted(name for name, label in theirs.items() if ours.get(name) != label)
            if differ:
                section.problems.append(f"{len(differ)} labels differ, e.g. of {differ[0]}")
    section.records.append({"routed_jobs/s": spread(rates["routed"]), "embedded_jobs/s": spread(rates["embedded"]),
                            "routed/embedded": ratios(rates["routed"], rates["embedded"])})
    return section


def _one_batch(port: int, body: bytes) -> tuple[float, list[dict]]:
    """How long it took until the last result was there, and the results. As the other side's client it looks in once a
    millisecond while many are due."""
    due, text = body.count(b"\n"), bytearray()
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as sock:
        sock.sendall(b"POST /v1/batches HTTP/1.0\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body))
        sock.sendall(body)
        while heard := sock.recv(1 << 18):
            text += heard
            due -= heard.count(b"\n")
            if due > AWAKE_BELOW:
                time.sleep(NAP_SECONDS)
    seconds = time.perf_counter() - began
    head, _, lines = bytes(text).partition(b"\r\n\r\n")
    if b" 200 " not in (status := head.partition(b"\r\n")[0]):
        raise BenchError(f"the router answers {status!r}")
    return seconds, [json.loads(line) for line in lines.splitlines()]


@contextlib.contextmanager
def _pilot(setting: Setting, server: Server) -> Iterator[None]:
    join = f"http://127.0.0.1:{server.port}"
    pilot = subprocess.Popen([str(setting.zygo), "pilot", "--join", join, "--workers", "1", "--log", "off"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        pilot.terminate()
        pilot.wait(PATIENCE_SECONDS)


def _ask(clients: Clients, count: int) -> list:
    jobs = jobs_of(TEMPLATE, "tiny", count)
    return clients.windowed((name, request(line)) for name, line in jobs.items())


def _join(setting: Setting) -> Section:
    section = Section("router", "the start of a pilot's process to the first result, of a job that waited for it; milliseconds",
                      part="join")
    times = []
    for turn in range(setting.effort.starts):
        progress(f"router: join {turn + 1}/{setting.effort.starts}")
        with Server(setting.zygo, command="route") as server, Clients(server.port, 1) as clients:
            for name, line in jobs_of(TEMPLATE, "tiny", 1).items():
                clients.send(name, request(line))
            began = time.perf_counter()
            with _pilot(setting, server):
                while not (heard := clients.hear(PATIENCE_SECONDS)):
                    if clients.lost:
                        raise BenchError("the waiting job had no answer")
                times.append((time.perf_counter() - began) * 1e3)
            section.problems += wrong_answers([json.loads(heard[0].body)], "tiny")
    section.records.append({"starts": len(times), "first_result_ms": spread(times)})
    return section
