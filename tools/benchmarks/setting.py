"""What the rows share: where things are and how much to measure."""
import contextlib
import itertools
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .coprocess import Coprocess, job_line
from .limit import Limits
from .programs import ANSWERS, PROGRAMS, TEMPLATES
from .system import BenchError, pinned

SETTLE_SECONDS = 0.05  # what one side still does after its last answer must not fall on the other
WARM_UP = 100  # jobs
_serial = itertools.count()  # ids are unique as long as this process lives


@dataclass(frozen=True)
class Effort:
    """How much to measure; each is also an option of the command line. The help is in EFFORT_HELP."""

    rounds: int
    jobs: int
    asks: int
    idle_asks: int
    programs: int
    subset: int
    batches: int
    starts: int
    loops: int
    drift: int
    seconds: int
    slow: int
    cells: int
    steps: int
    nodes: int


THOROUGH = Effort(
    rounds=7, jobs=1000, asks=2000, idle_asks=100, programs=3140, subset=200, batches=200, starts=9, loops=100,
    drift=100_000, seconds=12, slow=40, cells=64, steps=200, nodes=1000,
)
QUICK = Effort(
    rounds=3, jobs=200, asks=200, idle_asks=20, programs=600, subset=20, batches=20, starts=3, loops=6,
    drift=3000, seconds=3, slow=10, cells=16, steps=20, nodes=50,
)
EFFORT_HELP = {
    "rounds": "A B turns of most rows",
    "jobs": "small jobs per turn and core",
    "asks": "jobs of row latency, back to back",
    "idle_asks": "the same after pauses",
    "programs": "of rows arc and reward, at most the 3,140 of the batch",
    "subset": "programs of row arc that also run in an interpreter each",
    "batches": "of row reward",
    "starts": "cold starts",
    "loops": "endless loops of row deadline",
    "drift": "jobs of row drift",
    "seconds": "of arrivals in row mix",
    "slow": "jobs per turn for peers that start an interpreter per job",
    "cells": "at most in row memory",
    "steps": "of row sessions, at each state",
    "nodes": "of row sessions",
}


@dataclass(frozen=True)
class Setting:
    zygo: Path
    limit_module: Path
    python: str
    root: Path  # of the repository
    arc_jobs: Path | None  # instead of what the grader makes
    templates: tuple[str, ...]
    same_modules: bool  # the limit loads exactly what the template has loaded
    cpu: int
    cpus: tuple[int, ...]
    effort: Effort
    known_modules: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def cores(self) -> int:
        return len(self.cpus)

    def coprocess(self, *arguments: str) -> Coprocess:
        return Coprocess(self.zygo, *arguments)

    @contextlib.contextmanager
    def one_core(self) -> Iterator[Coprocess]:
        """A zygo with one cell, on the one CPU together with its client."""
        with pinned({self.cpu}), self.coprocess("--workers", "1", "--build-cache", "0") as zygo:
            yield zygo

    def limits(self, template: str) -> Limits:
        """On all CPUs, that of the one-core measurements last."""
        cpus = [*(cpu for cpu in self.cpus if cpu != self.cpu), self.cpu]
        return Limits(self.python, self.limit_module, self.limit_modules(template), cpus)

    def limit_modules(self, template: str) -> tuple[str, ...]:
        if not self.same_modules:
            return TEMPLATES[template]
        if template not in self.known_modules:
            self.known_modules[template] = self._modules_of(template)
        return self.known_modules[template]

    def _modules_of(self, template: str) -> tuple[str, ...]:
        job = {"id": "modules", "template": template, "source": "import sys\nprint(*sorted(sys.modules))"}
        with self.coprocess("--workers", "1") as zygo:
            (result,) = zygo.run(job_line(job), 1).results()
        if result["label"] != "OK":
            raise BenchError(f"cannot list the modules of {template}: {result['label']}")
        names = result["stdout"]["text"].split()
        return (*TEMPLATES[template], *(n for n in names if not n.startswith(("zygo", "__"))))


def new_id(kind: str) -> str:
    return f"{kind.replace(' ', '-')}-{next(_serial)}"


def jobs_of(template: str, program: str, count: int, **fields) -> dict[str, bytes]:
    """`count` jobs that print the program's answer: their lines by their ids."""
    rest = job_line({"template": template, "source": PROGRAMS[program] + "\nprint(result)", **fields})[1:]
    ids = [new_id(program) for _ in range(count)]
    return {name: b'{"id":"%s",%s' % (name.encode(), rest) for name in ids}


def lines_of(template: str, program: str, count: int, **fields) -> bytes:
    return b"".join(jobs_of(template, program, count, **fields).values())


def wrong_answers(results: list[dict], program: str) -> list[str]:
    """A sentence if any result is not what the program prints."""
    good = ANSWERS[program] + "\n"
    wrong = [r for r in results if r["label"] != "OK" or r["stdout"]["text"] != good]
    if not wrong:
        return []
    labels = ", ".join(f"{n} {label}" for label, n in Counter(r["label"] for r in wrong).most_common(3))
    return [f"{len(wrong)} of {len(results)} {program} jobs were wrong: {labels}; the first: {str(wrong[0])[:300]}"]


def default_cpus() -> tuple[int, ...]:
    return tuple(sorted(os.sched_getaffinity(0)))
