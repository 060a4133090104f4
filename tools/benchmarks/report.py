"""Sections of measured records: as tables for people, as JSON for programs."""
from dataclasses import asdict, dataclass, field


@dataclass
class Section:
    """Records share their keys, which become the columns. A dict of numbers is a spread or a set of percentiles."""

    row: str
    title: str
    part: str = ""  # where a row has several tables
    records: list[dict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # what makes the figures doubtful
    skipped: list[str] = field(default_factory=list)  # what the host lacks

    def as_json(self) -> dict:
        return asdict(self)


def number(value: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    return f"{value:,.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 or size == 0 else 3}f}"


def cell(value) -> str:
    if isinstance(value, dict) and set(value) == {"median", "min", "max"}:
        return f"{number(value['median'])} ({number(value['min'])}..{number(value['max'])})"
    if isinstance(value, dict):
        return " / ".join(number(v) for v in value.values())
    if isinstance(value, list):
        return " ".join(map(cell, value))
    return number(value) if value is None or isinstance(value, (int, float)) else str(value)


def heading(key: str, value) -> str:
    name = key.replace("_", " ")
    if isinstance(value, dict):
        return f"{name} {'median (min..max)' if 'median' in value else ' / '.join(value)}"
    return name


def _samples(records: list[dict]) -> dict:
    """A value of each column, to know its kind."""
    return {key: next((r[key] for r in records if r[key] is not None), None) for key in records[0]}


def headings(records: list[dict]) -> list[str]:
    return [heading(key, value) for key, value in _samples(records).items()]


def cells(records: list[dict]) -> list[list[str]]:
    return [[cell(value) for value in record.values()] for record in records]


def table(records: list[dict]) -> list[str]:
    rows = [headings(records), *cells(records)]
    words = [isinstance(value, (str, list)) for value in _samples(records).values()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(t.ljust(w) if left else t.rjust(w) for t, w, left in zip(row, widths, words)).rstrip() for row in rows
    ]


def about(run: dict) -> str:
    return "run: " + ", ".join(f"{key} {value}" for key, value in run.items())


def text(run: dict, sections: list[Section]) -> str:
    lines = [about(run)]
    for section in sections:
        lines += ["", f"{section.row}: {section.title}"]
        lines += ["  " + line for line in table(section.records)] if section.records else []
        lines += [f"  - skipped: {what}" for what in section.skipped]
        lines += [f"  ! {problem}" for problem in section.problems]
    return "\n".join(lines)


def sections_from(document: dict) -> tuple[dict, list[Section]]:
    """What --json wrote, read back."""
    return document["run"], [Section(**section) for section in document["sections"]]
