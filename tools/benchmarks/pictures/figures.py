"""Which picture a section of the bench gives. Data, as far as possible: the columns to draw and what to call them."""
from __future__ import annotations

from collections.abc import Callable

from ..report import Section, number
from .svg import OURS, Chart, Group, Mark, bars, lines, ranges

Draw = Callable[[Section], Chart]


def charts(section: Section) -> list[Chart]:
    """None for what is better read as a table."""
    if not section.records:
        return []
    return [draw(section) for draw in FIGURES.get((section.row, section.part), ())]


COUNTED = {"cells": ("cell", "cells"), "cores": ("core", "cores")}


def _label(record: dict, keys: tuple[str, ...]) -> str:
    return ", ".join(f"{record[k]} {COUNTED[k][record[k] != 1]}" if k in COUNTED else str(record[k]) for k in keys)


def measured(title: str, unit: str, label: tuple[str, ...], columns: dict[str, str], ratio: str = "") -> Draw:
    """Bars of medians: `columns` by the names of the series; `ratio`: the column noted behind the first."""
    def draw(section: Section) -> Chart:
        groups = []
        for record in section.records:
            note = f"({number(record[ratio]['median'])} x)" if ratio else ""
            marks = [Mark(name, *_spread(record[column]), note=note * (not number))
                     for number, (name, column) in enumerate(columns.items()) if record[column] is not None]
            groups.append(Group(_label(record, label), marks))
        return bars(title, unit, groups)

    return draw


def percentiles(title: str, unit: str, label: tuple[str, ...], columns: dict[str, str]) -> Draw:
    """p50 as a dot, to p99 a thick line, to the maximum a thin one."""
    def draw(section: Section) -> Chart:
        return ranges(f"{title}: p50 (dot), p99 (thick), maximum (thin)", unit, [
            Group(_label(record, label), [
                Mark(name, record[column]["p50"], record[column]["p99"], record[column]["max"],
                     note=f"/ {number(record[column]['p99'])}") for name, column in columns.items()
            ]) for record in section.records
        ])

    return draw


def _spread(value: dict | float) -> tuple[float, float, float]:
    return (value["median"], value["min"], value["max"]) if isinstance(value, dict) else (value, value, value)


def _peers(section: Section) -> Chart:
    """Sorted, with what each isolates."""
    records = sorted(section.records, key=lambda r: (r["job"] != "tiny", -r["jobs/s"]["median"]))
    return ranges("What people use: jobs per second, CPU per job, what is isolated", "jobs per second, logarithmic", [
        Group(f"{r['peer']}, {r['job']} job", [_peer(r)], remark=r["isolates"]) for r in records
    ])


def _peer(record: dict) -> Mark:
    rate, nothing = record["jobs/s"]["median"], record["isolates"].startswith("nothing")
    series = OURS if record["peer"] == OURS else "jobs share an interpreter" if nothing else "a process per job"
    return Mark(series, rate, rate, rate, f"/s, {number(record['cpu_ms']['median'])} ms CPU")


def _memory(section: Section) -> Chart:
    series: dict[str, list[tuple[float, float]]] = {}
    for record in section.records:
        series.setdefault(record["template"], []).append((record["cells"], record["pss_kb"] / 1024))
    return lines("Memory of the whole process tree, every cell busy", "cells", "PSS, MiB", series)


def _drift(section: Section) -> Chart:
    series = {name: [(record["tenth"], record[key]) for record in section.records]
              for name, key in (("zygo", "zygo_jobs/s"), ("the limit", "limit_jobs/s"))}
    return lines(section.title, "tenth of the jobs", "jobs per second", series)


LIMIT = "the limit: a bare fork, no isolation"
POOL = "reused Pool, nothing isolated"
FIGURES: dict[tuple[str, str], tuple[Draw, ...]] = {
    ("tiny", ""): (
        measured("Small jobs per second, fully isolated, against the bare fork", "jobs per second",
                 ("template", "job", "cores"), {OURS: "zygo_jobs/s", LIMIT: "limit_jobs/s"}, "zygo/limit"),
    ),
    ("cells", ""): (
        measured("Jobs per second by the number of cells", "jobs per second", ("job", "cells"),
                 {OURS: "zygo_jobs/s", LIMIT: "limit_jobs/s"}, "zygo/limit"),
        percentiles("Latency by the number of cells", "milliseconds", ("job", "cells"), {OURS: "zygo_ms"}),
    ),
    ("latency", ""): (
        percentiles("One tiny job at a time", "microseconds", ("template", "when"),
                    {OURS: "zygo_us", LIMIT: "limit_us"}),
    ),
    ("arc", "pool"): (
        measured("ARC programs per second", "programs per second", (), {OURS: "zygo_jobs/s", POOL: "pool_jobs/s"}),
        measured("CPU per ARC program", "milliseconds of CPU, whole process tree", (),
                 {OURS: "zygo_cpu_ms", POOL: "pool_cpu_ms"}, "zygo/pool_cpu"),
    ),
    ("arc", "fresh"): (
        measured("ARC programs per second", "programs per second", (),
                 {OURS: "zygo_jobs/s", "python3 -I per program": "fresh_jobs/s"}, "zygo/fresh"),
    ),
    ("reward", "standing"): (
        percentiles("32 ARC programs at once", "milliseconds", ("when",),
                    {OURS: "zygo_ms", POOL: "pool_ms", "bound by the programs' own time": "bound_ms"}),
    ),
    ("reward", "cold"): (
        percentiles("32 ARC programs from process start", "milliseconds", (), {OURS: "zygo_ms", POOL: "pool_ms"}),
    ),
    ("cold", ""): (
        measured("Start to the first result", "milliseconds", ("template",),
                 {OURS: "zygo_ms", "python3 -c 'import ...'": "python_ms"}, "zygo/python"),
    ),
    ("determinism", ""): (
        measured("Tiny jobs, run once and run twice", "jobs per second", (),
                 {"once": "once_jobs/s", "twice, under different seeds": "twice_jobs/s"}),
    ),
    ("data", ""): (
        percentiles("A job that moves 1 MB", "milliseconds", ("1_MB",), {"1 MB": "zygo_ms", "tiny job": "tiny_ms"}),
    ),
    ("memory", ""): (_memory,),
    ("drift", "rates"): (_drift,),
    ("mix", "arriving"): (
        percentiles("Latency of short jobs that arrive at a fixed rate", "milliseconds", ("cells",),
                    {"alone": "alone_ms", "with 2 % endless loops": "mixed_ms"}),
    ),
    ("mix", "at once"): (
        measured("Short jobs of a batch", "short jobs per second", ("cells",),
                 {"alone": "alone_jobs/s", "with 2 % endless loops": "mixed_jobs/s"}),
    ),
    ("deadline", ""): (
        percentiles("Endless loops: past the deadline of a wall limit of 1 s", "milliseconds past the deadline", ("how",),
                    {"kill sent": "kill_ms", "reaped": "usage_ms", "heard": "heard_ms"}),
    ),
    ("counts", "totals"): (
        measured("Per tiny job", "times per job", ("fed", "process"),
                 {"system calls": "system_calls", "page faults (traps)": "faults", "pages": "pages"}),
    ),
    ("peers", ""): (_peers,),
}

# The pictures of docs/measurements.md: file name -> section, and which of its charts.
PUBLISHED_PICTURES = {
    "rates": ("tiny", "", 0), "latency": ("latency", "", 0), "arc": ("arc", "pool", 1),
    "reward": ("reward", "standing", 0), "memory": ("memory", "", 0), "drift": ("drift", "rates", 0),
    "peers": ("peers", "", 0),
}
