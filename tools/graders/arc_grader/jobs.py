"""From a prediction to a zygo job: the program out of the markdown, the inputs of its task around it."""
from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .dataset import Prediction, Task

FENCE_OPEN, FENCE_CLOSE = "```python", "```"

# README.md of the data set, rule 5: labels do not depend on the exact values.
LIMITS = {"cpu_ms": 1000, "wall_ms": 5000, "memory_mb": 512, "stdout_kb": 16384, "stderr_kb": 1024}


@dataclass(frozen=True)
class Candidate:
    """A prediction and its program; `source` is None if the text has no python block."""

    prediction: Prediction
    source: str | None


def extract_program(text: str) -> str | None:
    """The text between the first ```python and the next ```, stripped; None without such a block."""
    _, opened, rest = text.partition(FENCE_OPEN)
    if not opened:
        return None
    program, closed, _ = rest.partition(FENCE_CLOSE)
    return program.strip() if closed else None


def candidates(predictions: Iterable[Prediction]) -> list[Candidate]:
    """Every prediction with the program found in it."""
    return [Candidate(p, extract_program(p.text)) for p in predictions]


class JobWriter:
    """Makes job lines. The eight predictions of a task share one encoding of its inputs."""

    def __init__(self, tasks: dict[str, Task], runs: int) -> None:
        """`runs`: how often each job is run to see whether it repeats itself; 1 is no determinism check."""
        self._tasks = tasks
        self._runs = runs
        self._inputs: tuple[str, str] = ("", "")  # (task id, its inputs as JSON)

    def line(self, candidate: Candidate) -> bytes:
        """One job as an NDJSON line. Only inputs enter it, never a true output of a test."""
        if candidate.source is None:
            raise ValueError(f"{candidate.prediction.id} has no program")
        job = {
            "id": candidate.prediction.id,
            "template": "python-numpy",
            "source": candidate.source,
            "mode": "call",
            "func": "transform",
            "array": True,
            "limits": LIMITS,
            "determinism": {"runs": self._runs},
        }
        head = json.dumps(job, separators=(",", ":"))[:-1]
        return f'{head},"inputs":{self._encoded_inputs(candidate.prediction.task_id)}}}\n'.encode()

    def lines(self, runnable: Iterable[Candidate]) -> Iterator[bytes]:
        """The job lines of all candidates, made as they are asked for."""
        for candidate in runnable:
            yield self.line(candidate)

    def _encoded_inputs(self, task_id: str) -> str:
        if self._inputs[0] != task_id:
            self._inputs = (task_id, json.dumps(self._tasks[task_id].inputs, separators=(",", ":")))
        return self._inputs[1]
