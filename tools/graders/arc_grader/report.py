"""Text tables, CSV and JSON of a graded set."""
from __future__ import annotations

import csv
from pathlib import Path
from textwrap import indent
from typing import Any

from .errors import GraderError
from .grading import Difference, Graded
from .metrics import COLUMNS, Row


def outcome_table(graded: Graded) -> str:
    """'Most common outcomes': label, count, share, most common first."""
    return "Most common outcomes\n" + indent(str(graded.report), "  ")


def metrics_table(mean: Row, width: int | None = None) -> str:
    """The MEAN row under its column names; `width` (characters) breaks it into blocks, None does not."""
    blocks: list[tuple[str, str]] = [("", "MEAN")]
    for column in COLUMNS:
        cell = f"{mean[column]:.6f}"
        size = max(len(column), len(cell))
        head, body = blocks[-1]
        if width is not None and body != "MEAN" and len(body) + 2 + size > width:
            head, body = "", "MEAN"
            blocks.append((head, body))
        blocks[-1] = (f"{head:<{len(body)}}  {column:>{size}}", f"{body}  {cell:>{size}}")
    return "\n".join(line for block in blocks for line in block)


def rate_line(graded: Graded) -> str:
    """Jobs, seconds and jobs per second."""
    without = graded.n_predictions - graded.n_jobs
    note = f"; {without} predictions have no program" if without else ""
    return f"{graded.n_jobs} jobs in {graded.seconds:.2f} s: {graded.rate:.1f} jobs/s{note}"


def difference_lines(differences: list[Difference], compared: int) -> str:
    """The comparison with the expected labels, one line per difference."""
    if not differences:
        return f"Labels: all {compared} as expected"
    lines = [f"Labels: {len(differences)} of {compared} differ from the expected ones (id, expected, got, detail)"]
    lines += [f"  {d.id}  {d.expected}  {d.got}  {d.detail}" for d in differences]
    return "\n".join(lines)


def write_per_task(path: Path, graded: Graded) -> None:
    """A CSV with one row per task, and MEAN last."""
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["task_id", *COLUMNS])
            for name, row in [*graded.rows.items(), ("MEAN", graded.mean)]:
                writer.writerow([name, *(f"{row[column]:.8g}" for column in COLUMNS)])
    except OSError as error:
        raise GraderError(f"cannot write {path}: {error.strerror}") from None


def as_json(graded: Graded) -> dict[str, Any]:
    """The machine-readable report; `rate` is jobs per second, MEAN has the columns of the metrics row."""
    return {
        "predictions": graded.n_predictions,
        "tasks": len(graded.rows),
        "jobs": graded.n_jobs,
        "counts": {label: count for label, count, _ in graded.report.error_table()},
        "MEAN": graded.mean,
        "rate": round(graded.rate, 3),
        "seconds": round(graded.seconds, 3),
    }
