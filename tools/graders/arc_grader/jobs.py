"""From a prediction to a zygo job: the program out of the markdown, the inputs of its task around it."""
from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from zygo.grade.arc import extract_program

from .dataset import Prediction, Task

# README.md of the data set, rule 5: labels do not depend on the exact values.
LIMITS = {"cpu_ms": 1000, "wall_ms": 5000, "memory_mb": 512, "stdout_kb": 16384, "stderr_kb": 1024}


@dataclass(frozen=True)
class Candidate:
    """A prediction and its program; `source` is None if the text has no python block."""

    prediction: Prediction
    source: str | None


def candidates(predictions: Iterable[Prediction]) -> list[Candidate]:
    """Every prediction with the program found in it."""
    return [Candidate(p, extract_program(p.text)) for p in predictions]


def job_fields(source: str, runs: int) -> dict[str, Any]:
    """A job without its id and its inputs. `runs`: how often it is run to see whether it repeats itself."""
    return {"template": "python-numpy", "source": source, "mode": "call", "func": "transform", "array": True,
            "limits": LIMITS, "determinism": {"runs": runs}}


def job_lines(runnable: Iterable[Candidate], tasks: dict[str, Task], runs: int) -> Iterator[bytes]:
    """Jobs as NDJSON lines, made as they are asked for. Only inputs enter them, never a true output of a test."""
    for candidate in runnable:
        prediction = candidate.prediction
        if candidate.source is None:
            raise ValueError(f"{prediction.id} has no program")
        job = {"id": prediction.id, **job_fields(candidate.source, runs), "inputs": tasks[prediction.task_id].inputs}
        yield json.dumps(job, separators=(",", ":")).encode() + b"\n"
