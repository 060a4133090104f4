"""From a zygo result to the label of a prediction: what is a grid, and what the failing conversion is called."""
from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from zygo.grade.grids import to_grid

if TYPE_CHECKING:
    from zygo import Result

OK = "OK"
PARSING_FAILED = "ParsingCodeFailed"

IntGrid = NDArray[np.int_]


@dataclass(frozen=True)
class Verdict:
    """Label of one prediction. `outputs` (train, then test) is there exactly for the label OK."""

    label: str
    detail: str = ""
    outputs: list[IntGrid] | None = None


class Judged(Protocol):
    """What the metrics are made of: a Verdict, or an Outcome of zygo.grade."""

    @property
    def label(self) -> str: ...

    @property
    def outputs(self) -> list[IntGrid] | None: ...


def judge(result: Result, n_inputs: int) -> Verdict:
    """The verdict on one result of a job that called the program with `n_inputs` inputs."""
    if not result.ok and not _only_prints_differ(result):
        return Verdict(result.label, result.reason)
    value = result.value
    if not isinstance(value, list) or len(value) != n_inputs:
        found = f"{len(value)} values" if isinstance(value, list) else "no list of values"
        return Verdict("SandboxError", f"an OK result has {found} for {n_inputs} inputs")
    outputs = []
    for index, item in enumerate(value):
        try:
            outputs.append(to_grid(item))
        except Exception as error:  # Its class name is the label, whichever it is.
            return Verdict(type(error).__name__, f"output {index}: {error}")
    return Verdict(OK, outputs=outputs)


def _only_prints_differ(result: Result) -> bool:
    """Two runs gave equal grids and different text; printed text is no part of an answer (rule 2 of the set)."""
    return (result.label == "NonDeterministicCode" and result.determinism is not None
            and result.determinism.get("axis") == "stdout" and isinstance(result.value, list))


def outputs_sha256(outputs: list[IntGrid]) -> str:
    """SHA-256 of the outputs of all inputs as JSON without blanks: [[[0,1],[2,3]],...]."""
    text = json.dumps([grid.tolist() for grid in outputs], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
