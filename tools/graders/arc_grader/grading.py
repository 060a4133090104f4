"""Puts the parts together: result lines to verdicts, verdicts to a graded set."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .batch import Arrival
from .dataset import Task
from .errors import GraderError
from .judge import OK, PARSING_FAILED, Verdict, judge, outputs_sha256
from .jobs import Candidate
from .metrics import Row, mean_row, task_row
from .values import parse_result

Results = dict[str, tuple[Arrival, dict[str, Any]]]  # by job id


@dataclass(frozen=True)
class Span:
    """When one job ran, in seconds since the start of the batch: arrival of its result, minus its wall time."""

    id: str
    label: str
    start: float
    end: float


@dataclass
class Graded:
    """Everything known after a run. `verdicts` follows the order of the predictions."""

    verdicts: dict[str, Verdict]
    seconds: float
    n_jobs: int
    spans: list[Span] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)  # per task
    mean: Row = field(default_factory=dict)

    @property
    def counts(self) -> Counter[str]:
        """How many predictions have each label."""
        return Counter(verdict.label for verdict in self.verdicts.values())

    @property
    def rate(self) -> float:
        """Jobs per second; predictions without a program are no jobs."""
        return self.n_jobs / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Difference:
    """A prediction that did not end as expected.json says."""

    id: str
    expected: str
    got: str
    detail: str


def parse_arrivals(arrivals: list[Arrival], known: set[str]) -> tuple[Results, list[str]]:
    """({id: (arrival, result)}, complaints about lines that are no result of a job we sent)."""
    results: Results = {}
    complaints = []
    for number, arrival in enumerate(arrivals, 1):
        try:
            result = parse_result(arrival.line)
        except ValueError as error:
            complaints.append(f"result line {number} of zygo batch is not JSON: {error}")
            continue
        job_id = result.get("id")
        if job_id not in known:
            complaints.append(f"result line {number} has an id that was not sent: {job_id!r} "
                              f"({result.get('label')}, {result.get('detail')})")
        elif job_id in results:
            complaints.append(f"result line {number} is a second result of {job_id}")
        else:
            results[job_id] = (arrival, result)
    return results, complaints


def grade(candidates: list[Candidate], tasks: dict[str, Task],
          results: Results, seconds: float) -> Graded:
    """Judges every candidate; those without a program need no result, all others must have one."""
    verdicts: dict[str, Verdict] = {}
    spans = []
    for candidate in candidates:
        job_id = candidate.prediction.id
        if candidate.source is None:
            verdicts[job_id] = Verdict(PARSING_FAILED, "no python block")
            continue
        if job_id not in results:
            raise GraderError(f"no result for {job_id}")
        arrival, result = results[job_id]
        verdict = judge(result, len(tasks[candidate.prediction.task_id].inputs))
        verdicts[job_id] = verdict
        spans.append(_span(job_id, verdict, result, arrival.at))
    graded = Graded(verdicts, seconds, len(spans), spans)
    by_task: dict[str, list[Verdict]] = {}
    for candidate in candidates:
        by_task.setdefault(candidate.prediction.task_id, []).append(verdicts[candidate.prediction.id])
    graded.rows = {task_id: task_row(tasks[task_id], of_task) for task_id, of_task in by_task.items()}
    graded.mean = mean_row(graded.rows.values())
    return graded


def _span(job_id: str, verdict: Verdict, result: dict[str, Any], at: float) -> Span:
    usage = result.get("usage")
    wall_ms = usage.get("wall_ms") if isinstance(usage, dict) else None
    seconds = wall_ms / 1000 if isinstance(wall_ms, (int, float)) else 0.0
    return Span(job_id, verdict.label, max(0.0, at - seconds), at)


def compare(graded: Graded, expected: dict[str, dict[str, Any]],
            ignore: frozenset[str] = frozenset()) -> list[Difference]:
    """Labels, and outputs of valid predictions, that differ from what is expected.

    `ignore`: expected labels that this run could not give, such as NonDeterministicCode when each job ran once.
    """
    differences = []
    for job_id, verdict in graded.verdicts.items():
        if job_id not in expected:
            raise GraderError(f"the expected labels have no entry for {job_id}")
        entry = expected[job_id]
        if entry["label"] in ignore:
            continue
        if verdict.label != entry["label"]:
            differences.append(Difference(job_id, entry["label"], verdict.label, verdict.detail))
        elif verdict.outputs is not None and "outputs_sha256" in entry:
            if outputs_sha256(verdict.outputs) != entry["outputs_sha256"]:
                differences.append(Difference(job_id, OK, OK, "outputs have another outputs_sha256"))
    return differences
