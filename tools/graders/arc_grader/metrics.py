"""Scores of outputs against the true grids, and their means per task and over the tasks."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from zygo.grade.grids import pixel_score

from .dataset import Task
from .judge import OK, PARSING_FAILED, IntGrid, Judged

COLUMNS = (
    "n_preds", "valid code", "valid outputs", "unique outputs",
    "train_pixel_score", "train_correct_grids", "train_pass_rate", "train_is_correct",
    "test_pixel_score", "test_correct_grids", "test_pass_rate", "test_is_correct", "is_correct",
)
Row = dict[str, float]


@dataclass(frozen=True)
class Score:
    """Scores of one prediction on the train or the test grids of its task, each 0..1."""

    pixel_score: float = 0.0
    correct_grids: float = 0.0
    is_correct: float = 0.0


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
