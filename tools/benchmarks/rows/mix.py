"""2 % endless loops (1 s wall limit) among short jobs, against the same short jobs alone.

`arriving`: jobs come at a fixed rate, come what may, and latency is counted from when a job was due. `at once`: all
lines are there from the start; the rate is that of the short jobs, from the first byte written to the last short result
heard. With and without loops take turns.
"""
import json
import math

from ..coprocess import Coprocess, Heard, job_line
from ..programs import NUMPY
from ..report import Section
from ..setting import Setting, jobs_of, lines_of, new_id, wrong_answers
from ..system import progress, ratios, spread, tails

EVERY = 50  # the loop among so many jobs
RATE = 100  # short jobs a second and core
TURNS = 3
LOOP = {"template": NUMPY, "source": "while True:\n    pass", "limits": {"wall_ms": 1000, "cpu_ms": 100_000}}


def mix(setting: Setting) -> list[Section]:
    rate = RATE * setting.cores
    title = f"ms from when it was due for tiny {NUMPY} jobs that arrive at {rate}/s, alone and with 2 % loops"
    arriving = Section("mix", title, part="arriving")
    at_once = Section("mix", f"tiny {NUMPY} jobs/s of a batch, alone and with 2 % loops", part="at once")
    for factor in (2, 8):  # 2 is the default
        count = factor * setting.cores
        with setting.coprocess("--workers", str(count)) as zygo:
            zygo.run(lines_of(NUMPY, "tiny", 10 * count), 10 * count)
            progress(f"mix: {count} cells, jobs arriving")
            _arriving(arriving, zygo, count, rate, setting.effort.seconds)
            progress(f"mix: {count} cells, jobs at once")
            _at_once(at_once, zygo, count, max(EVERY, setting.effort.jobs // 2) * setting.cores)
    return [arriving, at_once]


def _arriving(section: Section, zygo: Coprocess, cells: int, rate: int, seconds: int) -> None:
    alone, mixed = [], []
    for _ in range(TURNS):
        count = max(EVERY, rate * seconds // TURNS)
        alone += zygo.paced(jobs_of(NUMPY, "tiny", count), rate)
        mixed += zygo.paced(_with_loops(jobs_of(NUMPY, "tiny", count)), rate)
    section.problems += _wrong(alone) + _wrong(mixed)
    section.records.append({
        "cells": cells, "jobs": len(alone), "alone_ms": tails([1000 * s for s, a in alone]),
        "mixed_ms": tails([1000 * s for s, a in mixed if not _is_loop(a)]),
    })


def _at_once(section: Section, zygo: Coprocess, cells: int, count: int) -> None:
    rates: dict[str, list[float]] = {"alone": [], "mixed": []}
    for _ in range(TURNS):
        short = {how: jobs_of(NUMPY, "tiny", count) for how in rates}
        for how, jobs in (("alone", short["alone"]), ("mixed", _with_loops(short["mixed"]))):
            heard = zygo.paced(jobs, per_second=math.inf)
            section.problems += _wrong(heard)
            rates[how].append(count / max(seconds for seconds, answer in heard if not _is_loop(answer)))
    section.records.append({
        "cells": cells, "jobs": count, "alone_jobs/s": spread(rates["alone"]),
        "mixed_jobs/s": spread(rates["mixed"]), "mixed/alone": ratios(rates["mixed"], rates["alone"]),
    })


def _with_loops(short: dict[str, bytes]) -> dict[str, bytes]:
    jobs = {}
    for number, (name, line) in enumerate(short.items()):
        if number % EVERY == EVERY // 2:
            loop = new_id("loop")
            jobs[loop] = job_line({"id": loop, **LOOP})
        jobs[name] = line
    return jobs


def _is_loop(answer: bytes) -> bool:
    return answer.startswith(b'{"id":"loop')


def _wrong(heard: Heard) -> list[str]:
    results = [json.loads(answer) for _, answer in heard]
    loops = [r for r in results if r["id"].startswith("loop")]
    not_stopped = {r["label"] for r in loops} - {"TimeoutException"}
    wrong = wrong_answers([r for r in results if not r["id"].startswith("loop")], "tiny")
    return wrong + ([f"loops ended with {sorted(not_stopped)}"] if not_stopped else [])
