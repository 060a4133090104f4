"""More cells than cores: 1, 2 and 4 x cores of them, tiny jobs and jobs of 5 ms CPU, a fixed number under way."""
import contextlib
import json
import time

from ..coprocess import Coprocess
from ..programs import NUMPY, PROGRAMS
from ..report import Section
from ..setting import SETTLE_SECONDS, Setting, jobs_of, wrong_answers
from ..system import progress, ratios, spread, tails

FACTORS = (1, 2, 4)
WINDOW = 8  # jobs under way per core: enough for four cells each and a queue
COUNT = {"tiny": 1.0, "5 ms": 0.2}  # of the jobs of a turn


def cells(setting: Setting) -> list[Section]:
    window = WINDOW * setting.cores
    section = Section(
        "cells",
        f"{NUMPY} jobs by `--workers`, {window} under way on {setting.cores} core(s): jobs/s against the limit on as "
        "many cores, ms from sending to hearing",
    )
    with contextlib.ExitStack() as stack:
        counts = [factor * setting.cores for factor in FACTORS]
        sides = {count: stack.enter_context(setting.coprocess("--workers", str(count))) for count in counts}
        limits = stack.enter_context(setting.limits(NUMPY))
        for program, share in COUNT.items():
            progress(f"cells: {program} jobs, {', '.join(map(str, sides))} cells")
            each = max(window, int(setting.effort.jobs * share))
            _turns(section, setting, program, each, window, sides,
                   lambda: limits.rate(PROGRAMS[program], max(1, each // 2)))
    return [section]


def _turns(section: Section, setting: Setting, program: str, each: int, window: int, sides: dict[int, Coprocess],
           limit) -> None:
    theirs: list[float] = []
    rates: dict[int, list[float]] = {cells: [] for cells in sides}
    waits: dict[int, list[float]] = {cells: [] for cells in sides}
    answers: list[bytes] = []
    for zygo in sides.values():
        zygo.windowed(jobs_of(NUMPY, program, 2 * window), window)
    for _ in range(setting.effort.rounds):
        for cells, zygo in sides.items():
            jobs = jobs_of(NUMPY, program, each * setting.cores)
            time.sleep(SETTLE_SECONDS)
            start = time.perf_counter()
            heard = zygo.windowed(jobs, window)
            rates[cells].append(len(heard) / (time.perf_counter() - start))
            waits[cells] += [1000 * seconds for seconds, _ in heard]
            answers += [answer for _, answer in heard]
        theirs.append(limit())
    section.problems += wrong_answers([json.loads(answer) for answer in answers], program)
    for cells in sides:
        section.records.append({
            "job": program, "cells": cells, "cells/cores": cells // setting.cores, "zygo_jobs/s": spread(rates[cells]),
            "limit_jobs/s": spread(theirs), "zygo/limit": ratios(rates[cells], theirs), "zygo_ms": tails(waits[cells]),
        })
