"""From a zygo result to the label of a prediction: what is a grid, and what the failing conversion is called."""
from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from zygo import Result

OK = "OK"
PARSING_FAILED = "ParsingCodeFailed"
MAX_SIDE, MAX_COLOUR = 30, 9

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


def to_grid(output: Any) -> IntGrid:
    """The output as integers; ValueError unless it is a grid with sides 1..30 and values 0..9.

    Whatever else numpy raises (TypeError for a mapping, OverflowError for a huge number) is left to the caller.
    """
    if output is None:
        raise ValueError("the output is None")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # A cast of NaN warns; the value that comes of it fails the range below.
        grid = np.array(output, dtype=int)
    if grid.ndim != 2:
        raise ValueError(f"the output has {grid.ndim} dimensions")
    if min(grid.shape) < 1 or max(grid.shape) > MAX_SIDE:
        raise ValueError(f"the output has {grid.shape[0]} x {grid.shape[1]} cells, sides must be 1..{MAX_SIDE}")
    if grid.min() < 0 or grid.max() > MAX_COLOUR:
        raise ValueError(f"the output has values {grid.min()}..{grid.max()}, not 0..{MAX_COLOUR}")
    return grid


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
