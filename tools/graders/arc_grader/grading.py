"""From the outcomes of a run to a graded set, and the comparison with expected labels."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zygo.grade import Outcome, Report

from .dataset import Task
from .errors import GraderError
from .judge import OK, outputs_sha256
from .metrics import Row, mean_row, task_row


@dataclass(frozen=True)
class Span:
    """When one job ran, in seconds since the start of the batch: arrival of its result, minus its wall time."""

    id: str
    label: str
    start: float
    end: float


@dataclass
class Graded:
    """Everything known after a run. The report follows the order of the predictions."""

    report: Report
    seconds: float
    n_jobs: int
    spans: list[Span] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)  # per task
    mean: Row = field(default_factory=dict)

    @property
    def n_predictions(self) -> int:
        return len(self.report.outcomes)

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


def graded_set(outcomes: list[Outcome], tasks: dict[str, Task], arrivals: dict[str, float]) -> Graded:
    """`arrivals`: when the result of each job came, in seconds since the start of the batch."""
    report = Report(outcomes)
    named = [(str(outcome.program.id), outcome) for outcome in outcomes]
    spans = [_span(name, outcome, arrivals[name]) for name, outcome in named if name in arrivals]
    graded = Graded(report, max(arrivals.values(), default=0.0), len(spans), spans)
    graded.rows = {task_id: task_row(tasks[task_id], of_task) for task_id, of_task in report.by_task.items()}
    graded.mean = mean_row(graded.rows.values())
    return graded


def _span(name: str, outcome: Outcome, at: float) -> Span:
    return Span(name, outcome.label, max(0.0, at - outcome.result.usage.wall_ms / 1000), at)


def compare(graded: Graded, expected: dict[str, dict[str, Any]],
            ignore: frozenset[str] = frozenset()) -> list[Difference]:
    """Labels, and outputs of valid predictions, that differ from what is expected.

    `ignore`: expected labels that this run could not give, such as NonDeterministicCode when each job ran once.
    """
    differences = []
    for outcome in graded.report.outcomes:
        job_id = str(outcome.program.id)
        if job_id not in expected:
            raise GraderError(f"the expected labels have no entry for {job_id}")
        entry = expected[job_id]
        if entry["label"] in ignore:
            continue
        if outcome.label != entry["label"]:
            differences.append(Difference(job_id, entry["label"], outcome.label, outcome.detail))
        elif outcome.outputs is not None and "outputs_sha256" in entry:
            if outputs_sha256(outcome.outputs) != entry["outputs_sha256"]:
                differences.append(Difference(job_id, OK, OK, "outputs have another outputs_sha256"))
    return differences
