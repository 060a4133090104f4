"""System calls and page faults per job, by kind of process: daemon, template, pid 1 of the cell, job.

Counts do not depend on how busy the machine is. Each is taken over N jobs and over 2N; a count per job is the
difference over N, so what happens once falls out. Calls and faults (traps) are recorded by perf; `pages` come from
/proc and also count those that one system call brought in, which saves their traps.
"""
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..coprocess import Coprocess
from ..perf import CALLS, FAULTS, Perf
from ..programs import NUMPY
from ..report import Section
from ..setting import WARM_UP, Setting, jobs_of, lines_of
from ..system import BenchError, children_of, page_faults, progress

EVENTS = ((CALLS, FAULTS), (FAULTS,))  # as many as the kernel and our rights give
KINDS = ("daemon", "template", "cell", "job")
MOST_JOBS = 200  # every call is written down

Counts = dict[str, Counter[str]]  # by kind of process


@dataclass
class Processes:
    """Of a zygo with one template and one cell, which stay as long as jobs are counted."""

    daemon: int
    templates: list[int]
    cells: list[int]

    @classmethod
    def of(cls, zygo: Coprocess) -> "Processes":
        templates = children_of(zygo.pid)
        found = cls(zygo.pid, templates, [cell for template in templates for cell in children_of(template)])
        if not found.cells:
            raise BenchError("the daemon has no cell that we can see")
        return found

    def kind(self, pid: int) -> str:
        if pid == self.daemon:
            return "daemon"
        return "template" if pid in self.templates else "cell" if pid in self.cells else "job"

    def pages(self) -> dict[str, int]:
        of_cells = [page_faults(pid) for pid in self.cells]
        return {
            "daemon": page_faults(self.daemon)[0], "template": sum(page_faults(pid)[0] for pid in self.templates),
            "cell": sum(own for own, _ in of_cells), "job": sum(reaped for _, reaped in of_cells),
        }


def counts(setting: Setting) -> list[Section]:
    totals = Section("counts", f"per tiny {NUMPY} job, by kind of process", part="totals")
    names = Section("counts", "system calls per job by name, one job at a time", part="names")
    jobs = min(MOST_JOBS, setting.effort.jobs)
    with setting.one_core() as zygo:
        zygo.run(lines_of(NUMPY, "tiny", WARM_UP), WARM_UP)
        events = _events(zygo, totals)
        for feeding, feed in (("one at a time", _one_by_one), ("all at once", _at_once)):
            progress(f"counts: {5 * jobs} jobs, {feeding}")
            feed(zygo, 2 * jobs)  # what grows once has grown
            few, many = (_measure(zygo, events, lambda: feed(zygo, count)) for count in (jobs, 2 * jobs))
            per_job = {kind: {w: (many[kind][w] - few[kind][w]) / jobs for w in many[kind]} for kind in KINDS}
            totals.records += [_total(feeding, kind, per_job[kind], events) for kind in KINDS]
            if feeding == "one at a time" and CALLS in events:
                names.records += _by_name(per_job)
    return [totals, names] if names.records else [totals]


def _total(feeding: str, kind: str, per_job: dict[str, float], events: tuple[str, ...]) -> dict:
    calls = sum(n for what, n in per_job.items() if what not in ("faults", "pages"))
    return {
        "fed": feeding, "process": kind, "system_calls": calls if CALLS in events else None,
        "faults": per_job.get("faults", 0.0) if events else None, "pages": per_job["pages"],
    }


def _by_name(per_job: dict[str, dict[str, float]]) -> list[dict]:
    """Those that every second job makes, at least."""
    names = {what for kind in KINDS for what in per_job[kind]} - {"faults", "pages"}
    records = [{"call": name, **{kind: per_job[kind].get(name, 0.0) for kind in KINDS}} for name in names]
    for record in records:
        record["all"] = sum(record[kind] for kind in KINDS)
    return sorted((r for r in records if r["all"] >= 0.5), key=lambda r: (-r["all"], r["call"]))


def _events(zygo: Coprocess, section: Section) -> tuple[str, ...]:
    """What perf can record here, nothing if there is no perf."""
    if not shutil.which("perf"):
        progress("counts: perf is not installed: no system calls, no faults")
        section.skipped.append("system calls and faults: perf is not installed (apt install linux-perf)")
        return ()
    for events in EVENTS:
        try:
            _measure(zygo, events, lambda: None)
            return events
        except BenchError as error:
            progress(f"counts: {error}")
            section.skipped.append(f"{', '.join(events)}: {error}")
    return ()


def _one_by_one(zygo: Coprocess, count: int) -> None:
    for line in jobs_of(NUMPY, "tiny", count).values():
        zygo.ask(line)


def _at_once(zygo: Coprocess, count: int) -> None:
    zygo.run(lines_of(NUMPY, "tiny", count), count)


def _measure(zygo: Coprocess, events: tuple[str, ...], work: Callable[[], None]) -> Counts:
    processes = Processes.of(zygo)
    found: Counts = {kind: Counter() for kind in KINDS}
    before = processes.pages()
    for (pid, what), times in _recorded(processes, events, work).items():
        found[processes.kind(pid)][what] += times
    after = processes.pages()
    if processes != Processes.of(zygo):
        raise BenchError("the cell was replaced while jobs were counted; run it again")
    for kind in KINDS:
        found[kind]["pages"] = after[kind] - before[kind]
    return found


def _recorded(processes: Processes, events: tuple[str, ...], work: Callable[[], None]) -> Counter[tuple[int, str]]:
    if not events:
        work()
        return Counter()
    pids = [processes.daemon, *processes.templates, *processes.cells]
    with tempfile.TemporaryDirectory(prefix="zygo-bench-") as folder, Perf(pids, events, Path(folder)) as perf:
        perf.tell("enable")
        work()
        perf.tell("disable")
        return perf.seen()
