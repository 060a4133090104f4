"""The page of a run: pictures and tables in one file that loads nothing; and those of docs/measurements.md as files."""
from __future__ import annotations

import re
from html import escape
from pathlib import Path

from ..report import Section, about, cells, headings
from ..system import progress
from .figures import PUBLISHED_PICTURES, charts
from .svg import STYLE

# XML forbids these characters; a complaint that is quoted may hold any byte.
UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

PAGE_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; background: #fff;
       color: #1f2933; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2.2em; }
svg { width: 100%; height: auto; } .note { color: #66717d; } .doubt { color: #b3261e; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
@media (prefers-color-scheme: dark) { body { background: #12171d; color: #e4e9ef; } .note { color: #9aa5b1; }
  .doubt { color: #ff8a80; } }
"""


def page(run: dict, sections: list[Section]) -> str:
    """Well-formed XML as well."""
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>zygo: tools/bench</title>'
        f"<style>{PAGE_STYLE}{STYLE}</style></head><body><h1>zygo: tools/bench</h1>",
        f'<p class="note">{escape(about(run))}</p>',
        '<p class="note">Sides alternate within one run; whiskers and brackets span the rounds. Trust the ratios, '
        "not the rates.</p>",
    ]
    parts += [_section(section) for section in sections]
    parts.append("</body></html>\n")
    return UNPRINTABLE.sub("\ufffd", "\n".join(parts))


def write_pictures(folder: Path, run: dict, sections: list[Section]) -> list[Path]:
    """Those that this run has measured; the files of the others stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    source = f"tools/bench{' --quick' * run['quick']}, {run['when']}, {run['cpus']} x {run['cpu']}, {run['kernel']}"
    for name, (row, part, number) in PUBLISHED_PICTURES.items():
        drawn = [chart for s in sections if (s.row, s.part) == (row, part) for chart in charts(s)]
        if len(drawn) <= number:
            progress(f"{name}.svg is not written: row {row} was not measured")
            continue
        written.append(folder / f"{name}.svg")
        written[-1].write_text(drawn[number].standing_alone(source), encoding="utf-8")
    return written


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.row)}: {escape(section.title)}</h2>"]
    parts += [chart.inline() for chart in charts(section)]
    if section.records:
        head = "".join(f"<th>{escape(text)}</th>" for text in headings(section.records))
        lines = ("".join(f"<td>{escape(text)}</td>" for text in row) for row in cells(section.records))
        rows = "".join(f"<tr>{line}</tr>" for line in lines)
        parts.append(f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>')
    parts += [f'<p class="note">Skipped: {escape(what)}</p>' for what in section.skipped]
    parts += [f'<p class="doubt">Doubtful: {escape(what)}</p>' for what in section.problems]
    return "\n".join(parts)
