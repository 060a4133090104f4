"""Predictions for tasks of ARC in the shape that trainers with arc25's runner use: tasks, their ids and the texts of
predictions go in, a dict for each comes out. Metrics of them are pandas frames. Needs numpy.
"""

from __future__ import annotations

import collections
import hashlib
import importlib
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy as np

from ..progress import tracked
from .grids import pixel_score, to_grid
from .trouble import is_ours

if TYPE_CHECKING:
    from .grids import IntGrid
    from .runner import CodeRunner, Outcome, Program

Task = Mapping[str, Sequence[Mapping[str, Any]]]  # "train" and "test": pairs of "input" and perhaps "output"
Told = Dict[str, Any]
Grouped = Dict[str, List[Told]]

FUNCTION = "transform"
MAX_SIDE = 35  # of an output
_FENCE_OPEN, _FENCE_CLOSE = "```python", "```"
_IMPORTS = "from typing import List, Tuple\nimport numpy as np\nimport numpy\n"
_LEFT_OUT = ("print(", "from common import *")  # lines that have these
_DSL = "arc25.BARC_dsl"  # is put before each program where it is installed
_AUGMENTATION = "arc25.data_augmentation"
# Trainers look for these by the name that they have without a sandbox.
_NAMES = {"MemoryLimitExceeded": "MemoryError"}
_COUNTED = ("TimeoutException", "NonDeterministicCode", "UnsafeCode", "ParsingCodeFailed")


def extract_program(text: str) -> Optional[str]:
    """The text between the first ```python and the next ```, stripped; None without such a block."""
    _, opened, rest = text.partition(_FENCE_OPEN)
    if not opened:
        return None
    program, closed, _ = rest.partition(_FENCE_CLOSE)
    return program.strip() if closed else None


class _Prediction:
    def __init__(self, task: Task, task_id: str, text: str, augmentation: Optional[Mapping[str, Any]]) -> None:
        self.task, self.task_id, self.text, self.augmentation = task, task_id, text, augmentation
        self.code = extract_program(text) or None
        self.grids: List[Any] = []  # what it is run with

    def source(self) -> Optional[str]:
        if self.code is None:
            return None
        kept = [line for line in self.code.split("\n") if not any(words in line for words in _LEFT_OUT)]
        return _IMPORTS + "\n".join(kept).strip()

    def inputs(self) -> List[Any]:
        grids = [np.asarray(pair["input"]) for part in ("train", "test") for pair in self.task[part]]
        return grids if self.augmentation is None else list(_augmented("apply", grids, self.augmentation))

    def told(self, outcome: Outcome) -> Told:
        if self.code is None:
            return {"error_type": outcome.label, "error_message": "", "text_prediction": self.text, "task_id": self.task_id}
        if is_ours(outcome.result):
            return {**self._failed(outcome.label, outcome.detail), "judged": False}
        if outcome.outputs is None:
            label = outcome.label.rpartition(".")[2]
            return self._failed(_NAMES.get(label, label), outcome.detail)
        try:
            grids = [to_grid(output, MAX_SIDE) for output in outcome.outputs]
        except Exception as error:  # whatever numpy makes of what a program returned
            return self._failed(type(error).__name__, str(error))
        plain = grids if self.augmentation is None else list(_augmented("revert", grids, self.augmentation))
        return {"code": self.code, "output_grids": grids, "input_grids": self.grids, "text_prediction": self.text,
                "fingerprint": fingerprint(plain), "test_output_grids": plain[-len(self.task["test"]):],
                "task_id": self.task_id, "data_augmentation_params": self.augmentation, **get_metrics(self.task, plain)}

    def _failed(self, kind: str, message: str) -> Told:
        return {"code": self.code, "error_type": kind, "error_message": message, "task_id": self.task_id}


def run_predictions(runner: CodeRunner, tasks: Sequence[Task], task_ids: Sequence[str],
                    text_predictions: Sequence[str],
                    data_augmentation_params: Optional[Sequence[Optional[Mapping[str, Any]]]] = None,
                    batch_size: int = 5000, group_results_by_task: bool = True, timeout_duration: Optional[float] = None,
                    disable_tqdm: bool = False) -> Union[List[Told], Grouped]:
    """`CodeRunner.run` with these arguments. The result of a prediction that has no outputs has `error_type` and
    `error_message`, of others `output_grids`, `fingerprint`, `test_output_grids` and the metrics. `batch_size` is taken and
    has no effect: predictions are sent little by little. Augmentations are arc25's, which must be installed for them.
    """
    augmentations = data_augmentation_params or [None] * len(tasks)
    lengths = {len(tasks), len(task_ids), len(text_predictions), len(augmentations)}
    if len(lengths) != 1:
        raise ValueError(f"tasks, ids, predictions and augmentations differ in their number: {sorted(lengths)}")
    given = [_Prediction(*each) for each in zip(tasks, task_ids, text_predictions, augmentations)]
    found: Dict[int, Told] = {}
    programs: Dict[int, _Prediction] = {}
    outcomes = runner.configured(FUNCTION, timeout_duration, _dsl()).outcomes(_programs(given, programs))
    for outcome in tracked(outcomes, given, not disable_tqdm):
        prediction = programs[id(outcome.program)]
        found[id(prediction)] = prediction.told(outcome)
    results = [found[id(prediction)] for prediction in given]
    return _grouped(results) if group_results_by_task else results


def _programs(given: Sequence[_Prediction], into: Dict[int, _Prediction]) -> Iterator[Program]:
    """Made as they are asked for. Predictions for one task share its inputs, so equal programs are run once."""
    from .runner import Program

    shared: Dict[int, List[Any]] = {}
    kept: List[Program] = []  # so that no two have the same id()
    for prediction in given:
        inputs = shared.get(id(prediction.task)) if prediction.augmentation is None else None
        if inputs is None:
            inputs = prediction.inputs()
            if prediction.augmentation is None:
                shared[id(prediction.task)] = inputs
        prediction.grids = inputs
        program = Program(prediction.task_id, prediction.source(), inputs)
        kept.append(program)
        into[id(program)] = prediction
        yield program


def _grouped(results: Sequence[Told]) -> Grouped:
    groups: Grouped = {}
    for result in results:
        groups.setdefault(result.pop("task_id"), []).append(result)
    return groups


def _dsl() -> Any:
    try:
        return importlib.import_module(_DSL)
    except ImportError:
        return None


def _augmented(verb: str, grids: Sequence[Any], parameters: Mapping[str, Any]) -> Any:
    try:
        module = importlib.import_module(_AUGMENTATION)
    except ImportError as error:
        raise ValueError(f"data_augmentation_params: {_AUGMENTATION} is not installed here ({error})") from None
    return getattr(module, f"{verb}_data_augmentation")(list(grids), **parameters)


def fingerprint(grids: Sequence[IntGrid]) -> str:
    """Equal for equal grids, and only for these."""
    digest = hashlib.sha256()
    for grid in grids:
        digest.update(repr((grid.shape, grid.dtype.str)).encode())
        digest.update(np.ascontiguousarray(grid).tobytes())
    return digest.hexdigest()


def get_metrics(task: Task, grids: Sequence[IntGrid]) -> Dict[str, float]:
    """Of one prediction's outputs, train before test: `train_pixel_score`, `train_correct_grids` (both 0..1),
    `train_is_correct` (0 or 1), and of test, as far as the task has its outputs."""
    metrics: Dict[str, float] = {}
    for part in ("train", "test"):
        wanted = [np.asarray(pair["output"]) for pair in task[part] if "output" in pair]
        if not wanted or len(wanted) != len(task[part]):
            continue
        of_part = grids[:len(wanted)] if part == "train" else grids[-len(wanted):]
        scores = [pixel_score(np.asarray(grid), truth) for grid, truth in zip(of_part, wanted)]
        correct = [score == 1 for score in scores]
        metrics[f"{part}_pixel_score"] = sum(scores) / len(scores)
        metrics[f"{part}_correct_grids"] = sum(correct) / len(correct)
        metrics[f"{part}_is_correct"] = int(all(correct))
    return metrics


def aggregate_metrics(results: Mapping[str, Sequence[Told]]) -> Any:
    """A row for each task of grouped results, and their mean as `MEAN`; a pandas frame."""
    import pandas

    frame = pandas.DataFrame.from_dict({task: _row(told) for task, told in results.items()}, orient="index")
    frame.loc["MEAN"] = frame.mean(axis=0)
    return frame.astype(float)


def _judged(told: Sequence[Told]) -> List[Told]:
    """Without those that zygo itself has failed, which a runner with trouble="report" has among its results."""
    return [one for one in told if one.get("judged", True)]


def _row(told: Sequence[Told]) -> Dict[str, float]:
    told = _judged(told)
    n = len(told)
    if not n:
        return {"n_preds": 0}  # and nothing else is known of it: no mean has it
    row = {"n_preds": n, "valid code": sum("code" in one for one in told) / n,
           "valid outputs": sum("error_type" not in one for one in told) / n,
           "unique outputs": len({one["fingerprint"] for one in told if "fingerprint" in one}) / n}
    for part in ("train", "test"):
        for score in ("pixel_score", "correct_grids"):
            row[f"{part}_{score}"] = sum(one.get(f"{part}_{score}", 0) for one in told) / n
        correct = [one.get(f"{part}_is_correct", 0) for one in told]
        row[f"{part}_pass_rate"] = sum(correct) / n
        row[f"{part}_is_correct"] = max(correct)
    row["is_correct"] = row["train_is_correct"] * row["test_is_correct"]
    return row


def error_analysis(results: Mapping[str, Sequence[Told]]) -> Any:
    """The share of predictions of each task that failed, in all and in the commonest ways; prints the commonest errors."""
    import pandas

    results = {task: _judged(told) for task, told in results.items()}
    errors = {task: [one["error_type"] for one in told if "error_type" in one] for task, told in results.items()}
    rows = {task: {"n_preds": len(told), "error_rate": len(errors[task]) / len(told),
                   **{kind: errors[task].count(kind) / len(told) for kind in _COUNTED}}
            for task, told in results.items() if told}
    frame = pandas.DataFrame.from_dict(rows, orient="index")
    frame.loc["MEAN"] = frame.mean(axis=0)
    print("Most common errors:")
    for kind, count in collections.Counter(sum(errors.values(), [])).most_common(20):
        print(f"{kind:<30} {count}")
    return frame.astype(float)
