"""Many jobs through one process: is the last as fast as the first, and is anything left?

The limit forks between slices of each tenth, in an interpreter that does nothing else, so that a machine which slows
down is not taken for a zygo that does: `zygo/limit` compares the two within a tenth. Memory and descriptors count from
the end of the first tenth, when buffers have their size.
"""
from ..coprocess import Coprocess
from ..limit import Limits
from ..programs import NUMPY, PROGRAMS
from ..report import Section
from ..setting import Setting, lines_of, wrong_answers
from ..system import children_of, held, progress, traces
from ..turns import turn

WARM_UP = 500
TENTHS, SLICES = 10, 10
LIMIT_SHARE, FEWEST_FORKS = 0.1, 20  # per slice, of its jobs
RSS_GROWTH = 0.05  # below it, not worth a mark


def drift(setting: Setting) -> list[Section]:
    size = max(1, setting.effort.drift // (TENTHS * SLICES))  # of a slice
    title = f"{TENTHS * SLICES * size:,} tiny {NUMPY} jobs through one process on one core, per tenth"
    rates = Section("drift", title, part="rates")
    holds = Section("drift", "what it held: resident kB and descriptors of the daemon and its templates", part="held")
    before = traces()
    with setting.limits(NUMPY) as limits, setting.one_core() as zygo:
        first = zygo.run(lines_of(NUMPY, "tiny", WARM_UP), WARM_UP)
        rates.problems += wrong_answers(first.results(), "tiny")
        holds.records.append(_holds(zygo, "start"))
        for number in range(1, TENTHS + 1):
            progress(f"drift: {title}, {number} of {TENTHS}")
            rates.records.append(_tenth(rates, zygo, limits, number, size))
            if number in (1, TENTHS):
                holds.records.append(_holds(zygo, "first tenth" if number == 1 else "end"))
        if status := zygo.close():
            rates.problems.append(f"zygo batch ended with status {status}")
    holds.problems += _growth(*holds.records[1:], jobs=(TENTHS - 1) * SLICES * size)
    holds.problems += [f"left behind: {trace}" for trace in sorted(traces() - before)]
    return [rates, holds]


def _tenth(section: Section, zygo: Coprocess, limits: Limits, number: int, size: int) -> dict:
    forks = max(FEWEST_FORKS, int(LIMIT_SHARE * size))
    seconds, limit_seconds = 0.0, 0.0
    for _ in range(SLICES):
        run = turn(zygo, lines_of(NUMPY, "tiny", size), size)
        section.problems += wrong_answers(run.results(), "tiny")
        seconds += run.seconds
        limit_seconds += forks / limits.rate(PROGRAMS["tiny"], forks, cores=1)
    ours, theirs = SLICES * size / seconds, SLICES * forks / limit_seconds
    return {"tenth": number, "zygo_jobs/s": ours, "limit_jobs/s": theirs, "zygo/limit": ours / theirs}


def _holds(zygo: Coprocess, when: str) -> dict:
    templates = [held(pid) for pid in children_of(zygo.pid)]
    return {
        "when": when, **{f"daemon_{key}": value for key, value in held(zygo.pid).items()},
        "templates": len(templates), "templates_rss_kb": sum(t.get("rss_kb", 0) for t in templates),
        "templates_fds": sum(t.get("fds", 0) for t in templates),
    }


def _growth(early: dict, late: dict, jobs: int) -> list[str]:
    found = []
    for key, value in early.items():
        more = late[key] - value if key != "when" else 0
        if key.endswith("rss_kb") and more > RSS_GROWTH * value:
            each = 1024 * more / jobs
            found.append(f"{key} went from {value:,} to {late[key]:,} in {jobs:,} jobs: {each:.0f} bytes a job")
        elif key.endswith("fds") and more:
            found.append(f"{key} went from {value} to {late[key]} in {jobs:,} jobs")
    return found
