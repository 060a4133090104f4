"""The one place that makes a reward of a program: trainers.py gives it the shapes of trainers."""

from __future__ import annotations

import re
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .. import checks
from ..errors import RuntimeLost, SandboxError
from ..grade.trouble import TRIES, is_ours
from ..pool import Pool, default, in_order
from ..result import Result
from ..transport.base import log
from .truth import tests_of

Completion = Union[str, Sequence[Mapping[str, Any]]]  # text, or a conversation whose last message counts
_PAUSE_SECONDS = 0.5  # before what zygo has failed is tried again; twice as long each time

_BLOCK = re.compile(r"```[ \t]*(?:python3?|py)[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_ANY_BLOCK = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)


def text_of(completion: Completion) -> str:
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def program_of(text: str) -> Optional[str]:
    """The last block of Python, else the last complete block of any language; None: the answer holds no program."""
    blocks = _BLOCK.findall(text) or _ANY_BLOCK.findall(text)
    return blocks[-1] if blocks and blocks[-1].strip() else None


class Scorer:
    """Rewards of completions, each a float or None where zygo itself has failed it.

    pool        where programs run; the process's default one
    timeout     CPU time of each test, in seconds; the wall clock has twice as much and a second
    memory_mb   of each test
    template    of the programs
    compare     how output is compared (docs/jobs.md); a test that names a way of its own keeps it
    partial     the share of tests that pass; False: 1.0 if all do, else 0.0
    no_program  the reward of an answer without a program; None leaves it out
    extract     finds the program in a completion's text, or gives None
    tries       of a program that zygo has failed (SandboxError), and of one whose runtime is lost

    BadJob, ValueError, TypeError: these are wrong. `scores` raises BadJob where a problem's tests are, NoRuntime, and
    RuntimeLost when no try has found a runtime: that is no matter of single samples.
    """

    def __init__(self, pool: Optional[Pool] = None, *, timeout: float = 6, memory_mb: int = 1024,
                 template: str = "python", compare: Optional[str] = None, partial: bool = True,
                 no_program: Optional[float] = 0.0, extract: Callable[[str], Optional[str]] = program_of,
                 tries: int = TRIES) -> None:
        if tries < 1:
            raise ValueError(f"tries={tries}: there must be one at least")
        milliseconds = checks.milliseconds("timeout", timeout)
        self._pool = pool or default()
        self._fields = {"template": template, "limits": {
            "cpu_ms": milliseconds, "wall_ms": 2 * milliseconds + 1000, "memory_mb": memory_mb}}
        self._compare, self._partial, self._no_program = compare, partial, no_program
        self._extract, self._tries = extract, tries
        self._pool.check_early({**self._fields, "tests": [{"stdin": "", "expect": "", "compare": compare or "lines"}]})

    def scores(self, completions: Sequence[Completion], truths: Sequence[Any]) -> List[Optional[float]]:
        """The reward of each completion by the tests of its problem (`tests_of`), in their order."""
        if len(completions) != len(truths):
            raise ValueError(f"{len(completions)} completions, but the tests of {len(truths)}")
        found: List[Optional[float]] = [self._no_program] * len(completions)
        jobs: Dict[int, Dict[str, Any]] = {}
        for number, (completion, truth) in enumerate(zip(completions, truths)):
            program = self._extract(text_of(completion))
            job = self._job(truth)
            if program is not None:
                jobs[number] = {**job, "source": program}
                found[number] = None
        for tries_left in reversed(range(self._tries)):
            for number, result in self._run(jobs, is_last=not tries_left):
                found[number] = self._reward(jobs.pop(number), result)
            if not jobs:
                break
            log.warning("zygo has failed %d programs; %s", len(jobs), "they are run again" if tries_left
                        else "they have no reward")
            if tries_left:
                time.sleep(_PAUSE_SECONDS * 2 ** (self._tries - 1 - tries_left))
        return found

    def score(self, completion: Completion, truth: Any) -> float:
        """Of one completion; SandboxError where zygo has failed it. An answer without a program that is left out: nan."""
        program = self._extract(text_of(completion))
        found, = self.scores([completion], [truth])
        if found is None and program is not None:
            raise SandboxError(f"zygo has failed a program {self._tries} times: it has no reward")
        return float("nan") if found is None else found

    def _job(self, truth: Any) -> Dict[str, Any]:
        tests, func = tests_of(truth)
        calls = func is not None
        if self._compare is not None and not calls:
            tests = [{"compare": self._compare, **test} for test in tests]
        return {**self._fields, "tests": tests, **({"mode": "call", "func": func} if calls else {})}

    def _run(self, jobs: Mapping[int, Mapping[str, Any]], is_last: bool) -> List[Tuple[int, Result]]:
        """The results of those that have been judged. RuntimeLost: none has been, and this was the last try."""
        judged: List[Tuple[int, Result]] = []
        lost: Optional[RuntimeLost] = None
        numbers = iter(list(jobs))
        futures = (_Kept(self._pool.submit(job)) for job in list(jobs.values()))
        try:
            for outcome in in_order(futures, self._pool._ahead()):
                number = next(numbers)
                if isinstance(outcome, RuntimeLost):
                    lost = outcome
                elif not is_ours(outcome):
                    judged.append((number, outcome))
        except RuntimeLost as error:  # a service that does not even say what it is
            lost = error
        if lost is not None and is_last and not judged:
            raise lost
        return judged

    def _reward(self, job: Mapping[str, Any], result: Result) -> float:
        if result.by == "caller":
            return self._reward_of_refused(job, result)
        passed = [test["label"] for test in result.tests or ()].count("OK")
        wanted: int = len(job["tests"])
        return passed / wanted if self._partial else float(passed == wanted)

    def _reward_of_refused(self, job: Mapping[str, Any], result: Result) -> float:
        """A program that is no job, such as one with a byte 0, is wrong; where any program is refused, that is raised."""
        checks.told(result)
        if result.label != "BadJob" or self._pool.run({**job, "source": "pass"}).label == "BadJob":
            result.check()
        return 0.0


class _Kept:
    """A future whose lost runtime is its result."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def result(self) -> Any:
        try:
            return self._future.result()
        except RuntimeLost as error:
            return error

    def cancel(self) -> None:
        self._future.cancel()
