"""What the rows share: where things are and how much to measure."""
import itertools
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .coprocess import Coprocess, job_line
from .programs import ANSWERS, PROGRAMS, TEMPLATES
from .system import BenchError

_serial = itertools.count()  # ids are unique as long as this process lives


@dataclass(frozen=True)
class Effort:
    rounds: int  # A B A B ..
    jobs: int  # per batch, core and round
    asks: int  # one at a time
    idle_asks: int  # one at a time, after a pause
    subset: int  # ARC programs that are also run in fresh interpreters
    loops: int  # endless ones
    drift: int  # jobs through one process


THOROUGH = Effort(rounds=7, jobs=1000, asks=2000, idle_asks=100, subset=400, loops=100, drift=20_000)
QUICK = Effort(rounds=3, jobs=200, asks=200, idle_asks=20, subset=40, loops=6, drift=3000)


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

    def coprocess(self, *arguments: str) -> Coprocess:
        return Coprocess(self.zygo, *arguments)

    def limit_modules(self, template: str) -> tuple[str, ...]:
        if not self.same_modules:
            return TEMPLATES[template]
        job = {"id": "modules", "template": template, "source": "import sys\nprint(*sorted(sys.modules))"}
        with self.coprocess("--workers", "1") as zygo:
            (result,) = zygo.run(job_line(job), 1).results()
        if result["label"] != "OK":
            raise BenchError(f"cannot list the modules of {template}: {result['label']}")
        names = result["stdout"]["text"].split()
        return (*TEMPLATES[template], *(n for n in names if not n.startswith(("zygo", "__"))))


def lines_of(template: str, program: str, count: int) -> bytes:
    """`count` jobs that print the program's answer."""
    source = PROGRAMS[program] + "\nprint(result)"
    return b"".join(
        job_line({"id": f"{program}-{next(_serial)}", "template": template, "source": source}) for _ in range(count)
    )


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
