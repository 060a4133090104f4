"""The HTML report: one file, inline SVG, nothing loaded from elsewhere; well-formed XML as well."""
from __future__ import annotations

from html import escape
from pathlib import Path

from . import charts
from .errors import GraderError
from .grading import Difference, Graded
from .metrics import COLUMNS

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; background: #fff; max-width: 1040px;
       margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: .2em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .8em; border-bottom: 1px solid #d9dee4; text-align: right; }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #1f2933; }
.grid { stroke: #e4e8ec; } .axis { stroke: #7b8794; } .note { color: #52606d; }
""" + "".join(f".{name} {{ fill: {colour}; }}\n" for name, (_, colour) in charts.GROUPS.items())


def render(graded: Graded, title: str, differences: list[Difference] | None = None) -> str:
    """The whole page. `differences`: the comparison with the expected labels, None if none was asked for."""
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">{graded.n_predictions} predictions for {len(graded.rows)} tasks; {graded.n_jobs} jobs in '
        f"{graded.seconds:.2f} s, {graded.rate:.1f} jobs/s.</p>",
        "<h2>Most common outcomes</h2>", charts.legend(), charts.outcome_bars(graded),
        "<h2>Metrics</h2>", _metrics(graded),
    ]
    if graded.spans:
        parts += ["<h2>Timeline of runs</h2>",
                  '<p class="note">One bar per job, from its start (arrival of the result minus wall time) to its '
                  "end. Bars below each other ran at the same time. Hover over a long one for its name.</p>",
                  charts.legend(), charts.timeline(graded), "<h2>Throughput</h2>", charts.throughput(graded)]
    if differences is not None:
        parts += ["<h2>Differences from the expected labels</h2>", _differences(differences)]
    parts.append("</body></html>\n")
    return "\n".join(parts)


def write(path: Path, page: str) -> None:
    """Writes the page; a GraderError names the file."""
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise GraderError(f"cannot write {path}: {error.strerror}") from None


def _table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = ("".join(f"<td>{escape(charts.printable(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _metrics(graded: Graded) -> str:
    return _table(["metric", "MEAN over the tasks"], [[column, f"{graded.mean[column]:.6f}"] for column in COLUMNS])


def _differences(differences: list[Difference]) -> str:
    if not differences:
        return "<p>None.</p>"
    return _table(["id", "expected", "got", "detail"], [[d.id, d.expected, d.got, d.detail] for d in differences])
