"""Sections of measured records: as tables for people, as JSON for programs."""
from dataclasses import asdict, dataclass, field


@dataclass
class Section:
    """Records share their keys, which become the columns. A dict of numbers is a spread or a set of percentiles."""

    row: str
    title: str
    records: list[dict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # what makes the figures doubtful

    def as_json(self) -> dict:
        return asdict(self)


def number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def cell(value) -> str:
    if isinstance(value, dict) and set(value) == {"median", "min", "max"}:
        return f"{number(value['median'])} ({number(value['min'])}..{number(value['max'])})"
    if isinstance(value, dict):
        return " / ".join(number(v) for v in value.values())
    if isinstance(value, list):
        return " ".join(map(cell, value))
    return number(value) if isinstance(value, (int, float)) else str(value)


def heading(key: str, value) -> str:
    name = key.replace("_", " ")
    if isinstance(value, dict):
        return f"{name} {'median (min..max)' if 'median' in value else ' / '.join(value)}"
    return name


def table(records: list[dict]) -> list[str]:
    rows = [[heading(k, v) for k, v in records[0].items()]] + [[cell(v) for v in r.values()] for r in records]
    words = [isinstance(v, (str, list)) for v in records[0].values()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(t.ljust(w) if left else t.rjust(w) for t, w, left in zip(row, widths, words)).rstrip() for row in rows
    ]


def text(machine: dict, sections: list[Section]) -> str:
    lines = ["machine: " + ", ".join(f"{k} {v}" for k, v in machine.items())]
    for section in sections:
        lines += ["", f"{section.row}: {section.title}"]
        lines += ["  " + line for line in table(section.records)] if section.records else []
        lines += [f"  ! {problem}" for problem in section.problems]
    return "\n".join(lines)
