"""What HTTP adds to a tiny job: `zygo serve` on kept-alive connections against `zygo batch -`, the same pool.

Rounds of both alternate; microseconds from the first byte sent to the last byte heard, by clients of the same kind.
"""
import json

from ..coprocess import Coprocess
from ..http_client import Clients, Server, request
from ..report import Section
from ..setting import WARM_UP, Setting, jobs_of, wrong_answers
from ..system import percentile, progress, spread

CONNECTIONS = (1, 4)
ROUNDS = 50  # short ones: other load on the machine then falls on both
TEMPLATE = "python"


def serve(setting: Setting) -> list[Section]:
    section = Section("serve", "a tiny job by HTTP and by the embedded pool, microseconds at the median; A B A B")
    workers = ("--workers", str(max(CONNECTIONS)))
    with setting.coprocess(*workers) as batch, Server(setting.zygo, *workers) as server:
        for count in CONNECTIONS:
            progress(f"serve: {count} connection{'s' * (count > 1)}")
            with Clients(server.port, count) as clients:
                _batch(batch, WARM_UP, count)
                _http(clients, WARM_UP)
                _compare(section, setting, batch, clients, count)
    return [section]


def _compare(section: Section, setting: Setting, batch: Coprocess, clients: Clients, count: int) -> None:
    share = max(1, setting.effort.asks // ROUNDS)
    ours, theirs, more, answers = [], [], [], []
    for _ in range(ROUNDS):
        pooled, told = _batch(batch, share, count)
        served, heard = _http(clients, share)
        theirs.append(percentile(pooled, 0.5))
        ours.append(percentile(served, 0.5))
        more.append(ours[-1] - theirs[-1])
        answers += told + heard
    section.problems += wrong_answers([json.loads(answer) for answer in answers], "tiny")
    section.records.append({
        "connections": count, "jobs": share * ROUNDS, "http_us": spread(ours), "pool_us": spread(theirs),
        "http_more_us": spread(more),
    })


def _batch(batch: Coprocess, count: int, window: int) -> tuple[list[float], list[bytes]]:
    jobs = jobs_of(TEMPLATE, "tiny", count)
    heard = [batch.ask(line) for line in jobs.values()] if window == 1 else batch.windowed(jobs, window)
    return [seconds * 1e6 for seconds, _ in heard], [answer for _, answer in heard]


def _http(clients: Clients, count: int) -> tuple[list[float], list[bytes]]:
    jobs = jobs_of(TEMPLATE, "tiny", count)
    heard = clients.windowed((name, request(line)) for name, line in jobs.items())
    return [answer.seconds * 1e6 for answer in heard], [answer.body for answer in heard]
