"""Many programs, grouped by their task, and the table of how they ended."""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ..errors import RuntimeLost
from ..job import Encoded
from ..pool import Pool, completed, default
from ..progress import tracked
from ..result import Result, failed
from ..transport.base import ResultFuture, log
from .execution import encoded, job_of
from .trouble import TRIES, is_ours
from .trouble import raised as raise_trouble

NO_PROGRAM = "ParsingCodeFailed"


@dataclass
class Program:
    """`code` is None where an answer holds no program. One with an `id` is a job of its own, and its result has that
    id; of those without, identical ones with the same inputs are run once."""

    task_id: str
    code: Optional[str]
    inputs: Union[Sequence[Any], Encoded]
    expected: Optional[Sequence[Any]] = None  # stays here: it is compared outside
    id: Optional[str] = None


@dataclass
class Outcome:
    program: Program
    label: str  # WrongAnswer where it ended well and something else came out
    outputs: Optional[List[Any]]
    correct: Optional[List[bool]]  # None: it could not be judged, for SandboxError is nobody's wrong answer
    result: Result
    detail: str = ""  # why it is not OK


@dataclass
class Report:
    outcomes: List[Outcome] = field(default_factory=list)  # in the order of the programs

    @property
    def by_task(self) -> Dict[str, List[Outcome]]:
        groups: Dict[str, List[Outcome]] = {}
        for outcome in self.outcomes:
            groups.setdefault(outcome.program.task_id, []).append(outcome)
        return groups

    @property
    def not_judged(self) -> List[Outcome]:
        """Those that zygo itself has failed: they belong into no share of right or wrong ones."""
        return [outcome for outcome in self.outcomes if is_ours(outcome.result)]

    def error_table(self) -> List[Tuple[str, int, float]]:
        """Label, count, share; the most frequent first."""
        counts = collections.Counter(outcome.label for outcome in self.outcomes)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [(label, count, count / len(self.outcomes)) for label, count in ordered]

    def __str__(self) -> str:
        table = self.error_table()
        width = max(len(label) for label in ["label", *(row[0] for row in table)])
        rows = [f"{label:<{width}}  {count:>7}  {share:>7.2%}" for label, count, share in table]
        return "\n".join([f"{'label':<{width}}  {'count':>7}  {'share':>7}", *rows])


@dataclass
class _Run:
    """One job, and the programs that wait for its result."""

    programs: List[Program]
    result: Optional[Result] = None


class CodeRunner:
    """Runs programs in batches. Graders whose jobs or rules are others override `job` and `judge`."""

    def __init__(self, func_name: str = "task", timeout_duration: float = 1, memory_limit_mb: int = 2048,
                 determinism_runs: int = 2, dsl: Union[None, str, ModuleType] = None, pool: Optional[Pool] = None, *,
                 n_jobs: Optional[int] = None, trouble: str = "raise") -> None:
        """`n_jobs`: that run at once, where there is no pool; none, and -1: as many as the default pool has.

        `trouble`: what becomes of programs that zygo itself has failed (SandboxError) three times: "raise" when all others
        have had their outcomes, or "report" them as outcomes with that label, whose `correct` is None."""
        if n_jobs is not None and n_jobs < 1 and n_jobs != -1:
            raise ValueError(f"n_jobs={n_jobs}: a number from 1, or -1 for all")
        if trouble not in ("raise", "report"):
            raise ValueError(f'trouble={trouble!r}: "raise" or "report"')
        self._pool = Pool(workers=n_jobs) if pool is None and n_jobs is not None and n_jobs > 0 else pool
        self._how = (func_name, timeout_duration, memory_limit_mb, determinism_runs, dsl)
        self._trouble = trouble
        (self._pool or default()).check_early(job_of("", Encoded([]), *self._how))
        self._encoded: Tuple[Any, Encoded] = (None, Encoded([]))  # the last inputs: programs of one task share them

    def job(self, program: Program, code: str) -> Mapping[str, Any]:
        """Called for one program after the other, as they are sent."""
        if self._encoded[0] is not program.inputs:
            self._encoded = (program.inputs, encoded(program.inputs))
        return job_of(code, self._encoded[1], *self._how)

    def judge(self, program: Program, result: Result) -> Outcome:
        """Called with each result as it comes; it is the place to compare with what is expected."""
        return outcome_of(program, result)

    def configured(self, func_name: str, timeout_duration: Optional[float], dsl: Union[None, str, ModuleType]
                   ) -> CodeRunner:
        """One like this for other programs; where no time is given, with this one's."""
        _, usual, memory_limit_mb, determinism_runs, own_dsl = self._how
        return CodeRunner(func_name, usual if timeout_duration is None else timeout_duration, memory_limit_mb,
                          determinism_runs, own_dsl or dsl, self._pool, trouble=self._trouble)

    def run(self, programs: Iterable[Any], progress: Any = False, *of_predictions: Any, **more: Any) -> Any:
        """A Report of programs. Or `run(tasks, task_ids, text_predictions, ...)`, as arc25 has it: a dict for each
        prediction, by task (`zygo.grade.arc.run_predictions`)."""
        if isinstance(progress, bool) and not more:
            return self._report(programs, progress)
        from .arc import run_predictions

        ids = () if isinstance(progress, bool) else (progress,)
        return run_predictions(self, list(programs), *ids, *of_predictions, **more)

    def _report(self, programs: Iterable[Program], progress: bool) -> Report:
        wanted = list(programs)
        found = {id(outcome.program): outcome for outcome in tracked(self.outcomes(wanted), wanted, progress)}
        return Report([found[id(program)] for program in wanted])

    def outcomes(self, programs: Iterable[Program]) -> Iterator[Outcome]:
        """Each as it comes. Programs are taken little by little. Those whose runtime is lost, or that end as SandboxError,
        are run again, and that is raised where it does not help (see `trouble`); BadJob, where any program would be
        refused."""
        runs = _runs_of(programs)
        for tries_left in reversed(range(TRIES)):
            again: List[_Run] = []
            reason = ""
            for run, future in self._done(runs):
                try:
                    run.result = future.result()
                except RuntimeLost as error:
                    if not tries_left:
                        raise
                    reason = str(error)
                    again.append(run)
                    continue
                if is_ours(run.result) and (tries_left or self._trouble == "raise"):
                    reason = reason or f"SandboxError ({run.result.reason})"
                    again.append(run)
                    continue
                self._raise_own_mistake(run)
                for program in run.programs:
                    yield self.judge(program, run.result)
            if not again:
                return
            if not tries_left:
                raise_trouble(next(run.result for run in again if run.result is not None))
            log.warning("%s; the %d jobs that were lost with it are run again", reason, len(again))
            for run in again:
                run.result = None
            runs = iter(again)

    def _raise_own_mistake(self, run: _Run) -> None:
        """A limit that there is not would be a row of wrong answers; a program of 100 MB is its own row."""
        program, result = run.programs[0], run.result
        if result is None or result.label != "BadJob" or program.code is None:
            return
        if (self._pool or default()).run(dict(self.job(program, "pass"))).label == "BadJob":
            result.check()

    def _done(self, runs: Iterator[_Run]) -> Iterator[Tuple[_Run, ResultFuture]]:
        """Those whose future is done, as they come."""
        pool = self._pool or default()
        under_way: Dict[ResultFuture, _Run] = {}

        def futures() -> Iterator[ResultFuture]:
            for run in runs:
                future = self._submit(pool, run)
                under_way[future] = run
                yield future

        for future in completed(futures(), pool._ahead()):
            yield under_way.pop(future), future

    def _submit(self, pool: Pool, run: _Run) -> ResultFuture:
        program = run.programs[0]
        if run.result is None and program.code is not None:
            return pool.submit({**self.job(program, program.code), "id": program.id})
        if run.result is None:
            run.result = failed(NO_PROGRAM, "caller", "the answer holds no program")
        future = ResultFuture()
        future.set_result(run.result)
        return future


def _runs_of(programs: Iterable[Program]) -> Iterator[_Run]:
    known: Dict[Tuple[Optional[str], int], _Run] = {}
    for program in programs:
        if program.id is not None:
            yield _Run([program])
            continue
        run = known.setdefault((program.code, id(program.inputs)), _Run([]))
        if run.result is not None:
            yield _Run([program], run.result)
            continue
        run.programs.append(program)
        if len(run.programs) == 1:
            yield run


def outcome_of(program: Program, result: Result) -> Outcome:
    if is_ours(result):
        return Outcome(program, "SandboxError", None, None, result, result.reason)
    outputs = list(result.value) if result.ok else None
    wanted = program.expected
    correct = [] if wanted is None else [
        outputs is not None and same(found, one) for found, one in zip(outputs or [None] * len(wanted), wanted)]
    label = "WrongAnswer" if result.ok and not all(correct) else result.label
    return Outcome(program, label, outputs, correct, result, result.reason)


def same(found: Any, wanted: Any) -> bool:
    """Of builtin types and arrays, which is all that a result can hold; a list is equal to the array of its items."""
    import numpy

    if isinstance(found, numpy.ndarray) or isinstance(wanted, numpy.ndarray):
        try:
            return numpy.array_equal(numpy.asarray(found), numpy.asarray(wanted))
        except (ValueError, TypeError):
            return False
    return bool(type(found) is type(wanted) and found == wanted)
