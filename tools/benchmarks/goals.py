"""What the project holds itself to, and what this run says of it. Quick runs and busy machines say little.

A goal whose row was not measured, or lacks the template or the cores it is about, is left out.
"""
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from .programs import NUMPY
from .report import Section, number

Values = Callable[[list[dict]], list[float]]  # of the records of a section, those that the goal is about


@dataclass(frozen=True)
class Goal:
    what: str
    row: str
    part: str
    wanted: str  # `>=`: the least of the values counts; `<=`: the largest
    bound: float
    values: Values

    def compare(self, values: list[float]) -> dict:
        more_is_better = self.wanted == ">="
        worst = min(values) if more_is_better else max(values)
        met = worst >= self.bound if more_is_better else worst <= self.bound
        return {"goal": self.what, "wanted": f"{self.wanted} {number(self.bound)}", "here": worst,
                "met": "yes" if met else "NO"}


def _column(key: str, inner: str = "median", **where) -> Values:
    """A column of the records that have one of these values; of a spread or percentiles, `inner`."""
    def values(records: list[dict]) -> list[float]:
        chosen = [r for r in records if r[key] is not None and all(r[name] in wanted for name, wanted in where.items())]
        return [r[key][inner] if isinstance(r[key], dict) else r[key] for r in chosen]

    return values


def _per_core(records: list[dict]) -> list[float]:
    about = [r for r in records if r["template"] == NUMPY and r["job"] == "tiny" and r["zygo_all/one_core"]]
    return [r["zygo_all/one_core"]["median"] / r["cores"] for r in about]


def _end_by_start(records: list[dict]) -> list[float]:
    ratios = [r["zygo/limit"] for r in records]
    return [statistics.median(ratios[-3:]) / statistics.median(ratios[:3])] if ratios else []


def _one_core(template: str, *jobs: str) -> Values:
    return _column("zygo/limit", template=(template,), job=jobs, cores=(1,))


GOALS = (
    Goal(f"tiny jobs, {NUMPY}, one core: x the limit", "tiny", "", ">=", 2.0, _one_core(NUMPY, "tiny")),
    Goal("tiny jobs, python, one core: x the limit", "tiny", "", ">=", 1.3, _one_core("python", "tiny")),
    Goal("tiny jobs, python-pandas, one core: x the limit", "tiny", "", ">=", 4.0, _one_core("python-pandas", "tiny")),
    Goal(f"func and numpy jobs, {NUMPY}, one core: x the limit", "tiny", "", ">=", 1.3,
         _one_core(NUMPY, "func", "numpy")),
    Goal("tiny jobs, all cores: x one core, per core", "tiny", "", ">=", 0.9, _per_core),
    Goal(f"latency, {NUMPY}, busy and idle: p50, x the limit's", "latency", "", "<=", 0.6,
         _column("zygo/limit_p50", template=(NUMPY,))),
    Goal(f"latency, {NUMPY}, busy and idle: p99, x p50", "latency", "", "<=", 3.0,
         _column("p99/p50", template=(NUMPY,))),
    Goal("ARC batch: CPU per job, x the unsafe pool's", "arc", "pool", "<=", 2.0, _column("zygo/pool_cpu")),
    Goal("ARC batch: the unsafe pool's rate, x zygo's", "arc", "pool", "<=", 2.0, _column("pool/zygo_jobs/s")),
    Goal("32 programs to a standing pool: p50 over their own time, ms", "reward", "standing", "<=", 10.0,
         _column("zygo_over_ms", "p50")),
    Goal("cold start to the first numpy result: x `import numpy`", "cold", "", "<=", 1.5,
         _column("zygo/python", template=(NUMPY,))),
    Goal("drift: the last three tenths, x the first three, by the limit", "drift", "rates", ">=", 0.95, _end_by_start),
    Goal(f"memory per extra cell, {NUMPY}: PSS in kB", "memory", "", "<=", 3072.0,
         _column("extra_kb_per_cell", template=(NUMPY,))),
    Goal("a step of a session with up to 8 MB of its own: ms more than a job", "sessions", "step", "<=", 1.0,
         _column("added_ms", state=("no data", "1 MB", "6 MB"))),
    Goal("a C++ program with stdin, compiled before: ms over starting it bare", "languages", "", "<=", 2.0,
         _column("more_ms", runtime=("cpp",))),
    Goal("a tiny job by HTTP: microseconds over the embedded pool", "serve", "", "<=", 100.0,
         _column("http_more_us", connections=(1,))),
    Goal("jobs in batches of 32 that a router routes per second of its CPU time", "router", "rate", ">=", 20_000.0,
         _column("jobs_per_cpu_second")),
    Goal("a tiny job by way of a router: microseconds more, all on one CPU", "router", "latency", "<=", 200.0,
         _column("more_us", where=("one CPU",))),
    Goal("a tiny job by way of a router: microseconds more, on all CPUs", "router", "latency", "<=", 400.0,
         _column("more_us", where=("all CPUs",))),
    Goal("a pilot's start to its first result: milliseconds", "router", "join", "<=", 300.0, _column("first_result_ms")),
    Goal("the ARC batch over four pilots: x the rate of one embedded pool", "router", "arc", ">=", 0.9,
         _column("routed/embedded")),
    Goal("2 x cores of endless loops: p99 past the deadline, ms", "deadline", "", "<=", 5.0,
         _column("usage_ms", "p99", how=("2 x cores",))),
)


def goals(sections: list[Section]) -> Section:
    measured: dict[tuple[str, str], list[dict]] = {}
    for section in sections:
        measured.setdefault((section.row, section.part), []).extend(section.records)
    found = Section("goals", "what the project holds itself to; of several values the worst, of rounds the median")
    for goal in GOALS:
        if values := goal.values(measured.get((goal.row, goal.part), [])):
            found.records.append(goal.compare(values))
    return found
