"""Scores of outputs against the true grids, and their means per task and over the tasks."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .dataset import Task
from .judge import OK, PARSING_FAILED, IntGrid, Judged

COLUMNS = (
    "n_preds", "valid code", "valid outputs", "unique outputs",
    "train_pixel_score", "train_correct_grids", "train_pass_rate", "train_is_correct",
    "test_pixel_score", "test_correct_grids", "test_pass_rate", "test_is_correct", "is_correct",
)
Row = dict[str, float]

_DIRECT_WORK = 15_000  # Comparisons up to which trying every placement beats the Fourier transform.


@dataclass(frozen=True)
class Score:
    """Scores of one prediction on the train or the test grids of its task, each 0..1."""

    pixel_score: float = 0.0
    correct_grids: float = 0.0
    is_correct: float = 0.0


def pixel_score(output: IntGrid, truth: IntGrid) -> float:
    """Share of equal cells, 0..1.

    Shapes that disagree: the largest number of equal cells over all ways to lay one grid on the other, divided
    by (larger height x larger width).
    """
    if output.shape == truth.shape:
        return float(np.count_nonzero(output == truth)) / truth.size
    area = max(output.shape[0], truth.shape[0]) * max(output.shape[1], truth.shape[1])
    return best_overlap(output, truth) / area


def best_overlap(a: IntGrid, b: IntGrid) -> int:
    """The largest number of equal cells over all shifts of `a` against `b`; cells may stick out."""
    rows, columns = a.shape[0] + b.shape[0] - 1, a.shape[1] + b.shape[1] - 1
    if rows * columns * min(a.size, b.size) <= _DIRECT_WORK:
        large, small = (a, b) if a.size >= b.size else (b, a)
        return _overlap_direct(large, small)
    return _overlap_fourier(a, b)


def _overlap_direct(large: IntGrid, small: IntGrid) -> int:
    """Compares `small` with every window of `large`, which gets a margin of a value that equals none."""
    height, width = small.shape
    margin = ((height - 1, height - 1), (width - 1, width - 1))
    framed = np.pad(large, margin, constant_values=-1)
    windows = np.lib.stride_tricks.sliding_window_view(framed, small.shape)
    return int((windows == small).sum(axis=(2, 3)).max())


def _overlap_fourier(a: IntGrid, b: IntGrid) -> int:
    """Correlates one plane per colour; the sum over the colours counts the equal cells of each shift."""
    rows, columns = _fast_length(a.shape[0] + b.shape[0] - 1), _fast_length(a.shape[1] + b.shape[1] - 1)
    spectrum = _spectrum(a.tobytes(), a.shape, rows, columns) * _spectrum(b.tobytes(), b.shape, rows, columns).conj()
    counts = np.fft.irfft2(spectrum.sum(axis=0), s=(rows, columns))
    return int(np.rint(counts.max()))


@lru_cache(maxsize=64)
def _spectrum(cells: bytes, shape: tuple[int, int], rows: int, columns: int) -> NDArray[np.complex128]:
    """Transform of the ten colour planes of a grid, padded to rows x columns."""
    grid = np.frombuffer(cells, dtype=int).reshape(shape)
    planes = grid[None, :, :] == np.arange(10)[:, None, None]
    return np.fft.rfft2(planes, s=(rows, columns))


def _fast_length(n: int) -> int:
    """The smallest even number >= n without prime factors above 5."""
    n += n % 2
    while True:
        rest = n
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 2


def score(outputs: list[IntGrid], truths: list[IntGrid]) -> Score:
    """Score of a prediction on one part (train or test) of a task."""
    if not truths:
        return Score()
    pixels = [pixel_score(output, truth) for output, truth in zip(outputs, truths, strict=True)]
    correct = [float(p == 1.0) for p in pixels]
    return Score(sum(pixels) / len(pixels), sum(correct) / len(correct), float(all(correct)))


def score_prediction(verdict: Judged, truths: list[IntGrid], n_train: int) -> tuple[Score, Score]:
    """(train, test) scores; without the label OK both are 0."""
    if verdict.label != OK or verdict.outputs is None:
        return Score(), Score()
    return score(verdict.outputs[:n_train], truths[:n_train]), score(verdict.outputs[n_train:], truths[n_train:])


def task_row(task: Task, verdicts: Sequence[Judged]) -> Row:
    """The metrics of one task from the verdicts of its predictions.

    `is_correct` asks for one prediction that solves both parts, not for two that solve one each.
    """
    truths = [np.array(grid, dtype=int) for grid in task.truths]
    scores = [score_prediction(verdict, truths, task.n_train) for verdict in verdicts]
    n = len(verdicts)
    different = {_key(v.outputs) for v in verdicts if v.label == OK and v.outputs is not None}
    row: Row = {
        "n_preds": float(n),
        "valid code": sum(v.label != PARSING_FAILED for v in verdicts) / n,
        "valid outputs": sum(v.label == OK for v in verdicts) / n,
        "unique outputs": len(different) / n,
    }
    for part, of_part in (("train", [s[0] for s in scores]), ("test", [s[1] for s in scores])):
        row[f"{part}_pixel_score"] = sum(s.pixel_score for s in of_part) / n
        row[f"{part}_correct_grids"] = sum(s.correct_grids for s in of_part) / n
        row[f"{part}_pass_rate"] = sum(s.is_correct for s in of_part) / n
        row[f"{part}_is_correct"] = max(s.is_correct for s in of_part)
    row["is_correct"] = max(train.is_correct * test.is_correct for train, test in scores)
    return {column: row[column] for column in COLUMNS}


def _key(outputs: list[IntGrid]) -> tuple[tuple[tuple[int, ...], bytes], ...]:
    """Equal for equal outputs, and only for these."""
    return tuple((grid.shape, grid.tobytes()) for grid in outputs)


def mean_row(rows: Iterable[Row]) -> Row:
    """The mean of every column over the tasks."""
    listed = list(rows)
    return {column: sum(row[column] for row in listed) / len(listed) for column in COLUMNS}


def differing_columns(row: Row, expected: dict[str, float], tolerance: float = 1e-6) -> list[str]:
    """Columns of `expected` that `row` does not have, or has with another value."""
    return [column for column, value in expected.items()
            if column not in row or not abs(row[column] - value) <= tolerance]
