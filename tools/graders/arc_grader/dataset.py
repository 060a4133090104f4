"""Reads the challenges, solutions, predictions and expected labels, and names what is wrong with them."""
from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import GraderError

Grid = list[list[int]]


@dataclass(frozen=True)
class Task:
    """One ARC task. `inputs` go to the program; `truths` (same order: train, then test) never do."""

    task_id: str
    inputs: list[Grid]
    truths: list[Grid]
    n_train: int


@dataclass(frozen=True)
class Prediction:
    """One answer of a model: markdown `text` that should hold a program for the task."""

    id: str
    task_id: str
    text: str


def read_json(path: Path) -> Any:
    """The content of a JSON file; a GraderError names the file, and the line of a syntax error."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise GraderError(f"cannot read {path}: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise GraderError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise GraderError(f"{path}: not UTF-8 text") from None


def load_tasks(challenges: Path, solutions: Path) -> dict[str, Task]:
    """All tasks by id, in the order of the challenges file."""
    questions, answers = read_json(challenges), read_json(solutions)
    for path, content in ((challenges, questions), (solutions, answers)):
        if not isinstance(content, dict):
            raise GraderError(f"{path}: expected an object with one entry per task")
    tasks = {}
    for task_id, question in questions.items():
        if task_id not in answers:
            raise GraderError(f"{solutions}: no solution for task {task_id} of {challenges}")
        try:
            train, test = question["train"], question["test"]
            inputs = [pair["input"] for pair in [*train, *test]]
            truths = [pair["output"] for pair in train] + list(answers[task_id])
        except (KeyError, TypeError):
            raise GraderError(
                f'{challenges}: task {task_id} is not {{"train": [{{"input", "output"}}], "test": [{{"input"}}]}}'
            ) from None
        if len(inputs) != len(truths):
            raise GraderError(f"{solutions}: task {task_id} has {len(test)} test inputs and "
                              f"{len(answers[task_id])} solutions")
        tasks[task_id] = Task(task_id, inputs, truths, len(train))
    return tasks


def load_predictions(path: Path, tasks: dict[str, Task], limit: int | None = None) -> list[Prediction]:
    """The first `limit` predictions (all if None) of a .jsonl or .jsonl.gz file, in file order."""
    predictions: list[Prediction] = []
    first_line: dict[str, int] = {}
    for number, line in _lines(path):
        if limit is not None and len(predictions) >= limit:
            break
        if not line.strip():
            continue
        prediction = _parse_prediction(f"{path}:{number}", line)
        if prediction.task_id not in tasks:
            raise GraderError(f"{path}:{number}: unknown task {prediction.task_id!r}")
        if prediction.id in first_line:
            before = first_line[prediction.id]
            raise GraderError(f"{path}:{number}: id {prediction.id!r} was already used in line {before}")
        first_line[prediction.id] = number
        predictions.append(prediction)
    if not predictions:
        raise GraderError(f"{path}: no predictions")
    return predictions


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(line number from 1, text) of a plain or gzip file."""
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as file:  # type: ignore[operator]
            for number, line in enumerate(file, 1):
                yield number, line
    except (EOFError, gzip.BadGzipFile) as error:
        raise GraderError(f"{path}: damaged gzip file after line {number}: {error}") from None
    except UnicodeDecodeError:
        raise GraderError(f"{path}: not UTF-8 text after line {number}") from None
    except OSError as error:
        raise GraderError(f"cannot read {path}: {error.strerror or error}") from None


def _parse_prediction(place: str, line: str) -> Prediction:
    """One line of a predictions file; `place` is FILE:LINE for messages."""
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise GraderError(f"{place}: not JSON: {error}") from None
    if not isinstance(record, dict):
        raise GraderError(f"{place}: expected an object, found {type(record).__name__}")
    for field in ("id", "task_id", "text"):
        if field not in record:
            raise GraderError(f"{place}: field {field!r} is missing")
        if not isinstance(record[field], str):
            raise GraderError(f"{place}: field {field!r} must be a string")
    return Prediction(record["id"], record["task_id"], record["text"])


def load_expected(path: Path) -> dict[str, dict[str, Any]]:
    """{prediction id: {"label", and for OK "outputs_sha256"}} from an expected.json."""
    content = read_json(path)
    if not isinstance(content, dict) or not all(isinstance(e, dict) and "label" in e for e in content.values()):
        raise GraderError(f'{path}: expected {{prediction id: {{"label": ...}}}}')
    return content


def load_expected_mean(path: Path) -> dict[str, float]:
    """The MEAN row of an expected_metrics.json."""
    content = read_json(path)
    mean = content.get("MEAN") if isinstance(content, dict) else None
    if not isinstance(mean, dict):
        raise GraderError(f'{path}: expected {{"MEAN": {{column: number}}}}')
    return mean
