"""Runs the programs with zygo.grade: results are judged and kept as they come, and a bad end is explained."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import zygo
from zygo import binary, grade
from zygo.progress import tracked

from .dataset import Task
from .errors import GraderError, Interrupted
from .grading import Graded, graded_set
from .jobs import Candidate, job_fields
from .judge import judge

NAMED_IDS = 8  # How many missing ids an error message lists.


def find_zygo(given: str | None) -> str:
    """The zygo binary: the option, else $ZYGO_BIN, the release build of this repository, or what is in PATH."""
    try:
        return binary.find(given)
    except zygo.NoRuntime as error:
        raise GraderError(f"{error}; run tools/setup and build, or name it with --zygo PATH") from None


class Runner(grade.CodeRunner):
    """The jobs of the ARC set, and its rules."""

    def __init__(self, pool: zygo.Pool, runs: int) -> None:
        super().__init__(pool=pool, trouble="report")
        self._runs = runs

    def job(self, program: grade.Program, code: str) -> Mapping[str, Any]:
        return {**job_fields(code, self._runs), "inputs": program.inputs}

    def judge(self, program: grade.Program, result: zygo.Result) -> grade.Outcome:
        if program.code is None:
            return grade.Outcome(program, result.label, None, [], result, "no python block")
        verdict = judge(result, len(program.inputs))
        return grade.Outcome(program, verdict.label, verdict.outputs, [], result, verdict.detail)


def programs_of(chosen: list[Candidate], tasks: dict[str, Task]) -> Iterator[grade.Program]:
    """Made as they are asked for. The predictions of a task share one encoding of its inputs."""
    last, inputs = "", zygo.Encoded([])
    for candidate in chosen:
        prediction = candidate.prediction
        if prediction.task_id != last:
            last, inputs = prediction.task_id, zygo.Encoded(tasks[prediction.task_id].inputs)
        yield grade.Program(prediction.task_id, candidate.source, inputs, id=prediction.id)


def run(chosen: list[Candidate], tasks: dict[str, Task], runs: int, pool: zygo.Pool,
        keep: Callable[[bytes], object], show_progress: bool) -> Graded:
    """Every candidate graded, in their order. `keep` gets the line of each result as it comes."""
    runner = Runner(pool, runs)
    outcomes: dict[str, grade.Outcome] = {}
    arrivals: dict[str, float] = {}
    started = time.monotonic()
    try:
        with pool:
            for outcome in tracked(runner.outcomes(programs_of(chosen, tasks)), chosen, show_progress):
                name = str(outcome.program.id)
                outcomes[name] = outcome
                if outcome.program.code is not None:
                    arrivals[name] = time.monotonic() - started
                    keep(outcome.result.line + b"\n")
                    outcome.result.value, outcome.result.line = None, b""  # which would be most of our memory
    except KeyboardInterrupt:
        raise Interrupted(len(arrivals), sum(c.source is not None for c in chosen)) from None
    except zygo.ZygoError as error:
        raise GraderError(_explained(error, [c.prediction.id for c in chosen
                                             if c.source is not None and c.prediction.id not in arrivals])) from None
    return graded_set([outcomes[c.prediction.id] for c in chosen], tasks, arrivals)


def _explained(error: zygo.ZygoError, missing: list[str]) -> str:
    named = ", ".join(missing[:NAMED_IDS]) + (", ..." if len(missing) > NAMED_IDS else "")
    return f"{error}\n  {len(missing)} results are missing: {named}"
