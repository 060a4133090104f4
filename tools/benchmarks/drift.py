"""Row `drift`: many jobs through one process; is the last as fast as the first, and is anything left?"""
from .report import Section
from .setting import Setting, lines_of, wrong_answers
from .system import BenchError, footprint, pinned, progress

TEMPLATE = "python-numpy"
WARM_UP = 500
RSS_GROWTH = 0.05  # of the whole process tree; below it, not worth a mark


def drift(setting: Setting) -> Section:
    count = setting.effort.drift
    section = Section("drift", f"{count:,} tiny {TEMPLATE} jobs through one process on one core")
    progress(section.title)
    before = footprint(None)
    with pinned({setting.cpu}):
        with setting.coprocess("--workers", "1") as zygo:
            warm_run = zygo.run(lines_of(TEMPLATE, "tiny", WARM_UP), WARM_UP)
            payload = lines_of(TEMPLATE, "tiny", count)
            warm = footprint(zygo.pid)
            run = zygo.run(payload, count)
            end = footprint(zygo.pid)
            status = zygo.close()
    after = footprint(None)
    section.problems += wrong_answers(warm_run.results() + run.results(), "tiny")
    if status:
        section.problems.append(f"zygo batch ended with status {status}")

    tenths = [_rate(run.marks, i * count // 10, (i + 1) * count // 10) for i in range(10)]
    thousand = min(1000, count // 3)
    first, last = _rate(run.marks, 0, thousand), _rate(run.marks, count - thousand, count)
    for moment, held in (("before", before), ("warm", warm), ("end", end), ("after", after)):
        section.records.append({"when": moment, **held, "jobs/s": "", "per_tenth": ""})
    section.records[2] |= {
        "jobs/s": f"{count / run.seconds:.0f}", "per_tenth": [round(rate) for rate in tenths],
    }
    section.title += f"; last {thousand} / first {thousand}: {last / first:.3f}"
    for key in ("fds", "processes", "cgroups", "mounts"):
        if end[key] != warm[key]:
            section.problems.append(f"{key} went from {warm[key]} to {end[key]} while jobs ran")
    if end["rss_kb"] > (1 + RSS_GROWTH) * warm["rss_kb"]:
        section.problems.append(f"resident memory went from {warm['rss_kb']:,} to {end['rss_kb']:,} kB while jobs ran")
    for key in ("cgroups", "mounts", "tmp_entries"):
        if after[key] != before[key]:
            section.problems.append(f"{key} were {before[key]} before zygo ran and are {after[key]} after it")
    return section


def _when(marks: list[tuple[float, int]], job: int) -> float:
    """The moment of the job-th answer, between the two looks that saw it."""
    earlier, before = 0.0, 0
    for seconds, seen in marks:
        if seen >= job:
            return earlier + (seconds - earlier) * (job - before) / (seen - before)
        earlier, before = seconds, seen
    raise BenchError(f"answer {job} was never seen")


def _rate(marks: list[tuple[float, int]], first: int, last: int) -> float:
    return (last - first) / (_when(marks, last) - _when(marks, first))
