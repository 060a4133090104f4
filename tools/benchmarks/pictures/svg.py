"""Three kinds of chart as SVG text: bars from zero, ranges on a logarithmic axis, lines.

Each has a title, labels and units. It brings its own colours, for light and for dark surroundings, and needs no script,
font or file. It is well-formed XML, whether it stands alone or inside a page.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from ..report import number

WIDTH, RIGHT, TOP = 880, 150, 34
CHARACTER, FAINT_CHARACTER = 7.1, 6.3  # of text of 12 and 11 px, about
OURS = "zygo"  # the series that has the first colour everywhere
BAR, GAP = 15, 11
PLOT_HEIGHT = 230

LIGHT = {"paper": "#fff", "text": "#1f2933", "faint": "#66717d", "grid": "#e3e7ec", "axis": "#7b8794"}
DARK = {"paper": "#12171d", "text": "#e4e9ef", "faint": "#9aa5b1", "grid": "#2c343d", "axis": "#66717d"}
# Series in order of appearance. Readable on white and on near-black; told apart by brightness, too.
LIGHT_SERIES = ("#2f74c0", "#9aa3ad", "#d9822b", "#35a27b", "#9566c2", "#c9504c")
DARK_SERIES = ("#5fa3ec", "#7d8793", "#eba04e", "#55c79d", "#b48be0", "#ea7a76")


def _colours(of: dict[str, str], series: Sequence[str]) -> str:
    rules = [
        f".chart text{{fill:{of['text']}}}.chart .faint{{fill:{of['faint']}}}.chart .paper{{fill:{of['paper']}}}",
        f".chart .grid{{stroke:{of['grid']}}}.chart .axis{{stroke:{of['axis']}}}.chart .whisker{{stroke:{of['text']}}}",
    ]
    rules += [f".chart .s{i}{{fill:{c}}}.chart .line.s{i}{{fill:none;stroke:{c}}}" for i, c in enumerate(series)]
    return "".join(rules)


STYLE = (
    ".chart text{font:12px system-ui,sans-serif}.chart .title{font-weight:600;font-size:14px}"
    ".chart .faint{font-size:11px}.chart .whisker{stroke-width:1.2;fill:none}.chart .line{stroke-width:2}"
    f"{_colours(LIGHT, LIGHT_SERIES)}@media (prefers-color-scheme:dark){{{_colours(DARK, DARK_SERIES)}}}"
)


@dataclass(frozen=True)
class Mark:
    """A measured value of a series and the range it was seen in; in a chart of ranges, p50 with p99 and the maximum."""

    series: str
    value: float
    low: float
    high: float
    note: str = ""  # behind the value


@dataclass(frozen=True)
class Group:
    label: str
    marks: Sequence[Mark]
    remark: str = ""  # faint, below the label


@dataclass(frozen=True)
class Chart:
    title: str
    body: str
    height: float

    def inline(self) -> str:
        size = f'viewBox="0 0 {WIDTH} {self.height:.0f}"'
        return f'<svg class="chart" {size} role="img" aria-label="{escape(self.title)}">{self.body}</svg>'

    def standing_alone(self, source: str) -> str:
        """With its own style and background, and a line that says where the figures come from."""
        height = self.height + 20
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{WIDTH}" height="{height:.0f}" '
            f'viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(self.title)}"><style>{STYLE}</style>'
            f'<rect class="paper" width="{WIDTH}" height="{height:.0f}" rx="6"/>{self.body}'
            f'{_text(16, height - 10, source, "faint")}</svg>\n'
        )


def bars(title: str, unit: str, groups: Sequence[Group]) -> Chart:
    """Horizontal bars from zero; whiskers span what was seen."""
    most = max((m.high for g in groups for m in g.marks), default=0) or 1.0
    ticks = round_ticks(most)
    scale = _linear(_left(groups), max(most, ticks[-1]))

    def draw(mark: Mark, style: str, y: float) -> tuple[str, float]:
        start, end = scale(0), scale(max(mark.value, 0))
        whisker = _whisker(scale(mark.low), scale(mark.high), y) if mark.high > mark.low else ""
        return _rect(style, start, end, y, BAR - 2) + whisker, max(end, scale(mark.high))

    return _rows(title, unit, groups, ticks, scale, draw)


def ranges(title: str, unit: str, groups: Sequence[Group]) -> Chart:
    """On a logarithmic axis: a dot for the value, a thick line up to the next percentile, a thin one to the extreme."""
    values = [v for g in groups for m in g.marks for v in (m.value, m.low, m.high) if v > 0]
    least, most = (min(values), max(values)) if values else (1.0, 10.0)
    ticks = decade_ticks(least, most)
    scale = _logarithmic(_left(groups), min(least, ticks[0]), max(most, ticks[-1]))

    def draw(mark: Mark, style: str, y: float) -> tuple[str, float]:
        x, near, far = scale(mark.value), scale(mark.low), scale(mark.high)
        return (f'<line class="whisker" x1="{x:.1f}" y1="{y}" x2="{far:.1f}" y2="{y}"/>{_rect(style, x, near, y, 6)}'
                f'<circle class="{style}" cx="{x:.1f}" cy="{y}" r="5"/>'), far + 3

    return _rows(title, unit, groups, ticks, scale, draw)


def lines(title: str, x_label: str, unit: str, series: dict[str, Sequence[tuple[float, float]]]) -> Chart:
    """Both axes from zero."""
    left, right, bottom = 80.0, WIDTH - 30, TOP + 26 + PLOT_HEIGHT
    x_most = max((x for points in series.values() for x, _ in points), default=1) or 1.0
    y_ticks = round_ticks(max((y for points in series.values() for _, y in points), default=1) or 1.0)
    y_most = max([y_ticks[-1], *(y for points in series.values() for _, y in points)])
    x_of = _linear(left, x_most, right)

    def y_of(value: float) -> float:
        return bottom - PLOT_HEIGHT * value / y_most

    parts = [_text(16, 20, title, "title"), _legend(list(series), TOP + 8)]
    for tick in y_ticks:
        parts += [f'<line class="grid" x1="{left}" y1="{y_of(tick):.1f}" x2="{right}" y2="{y_of(tick):.1f}"/>',
                  _text(left - 6, y_of(tick) + 4, f"{tick:,g}", anchor="end")]
    parts += [_text(x_of(tick), bottom + 16, f"{tick:,g}", anchor="middle") for tick in round_ticks(x_most)]
    parts += [_text(x_of(x_most / 2), bottom + 34, x_label, anchor="middle"),
              f'<line class="axis" x1="{left}" y1="{bottom}" x2="{right}" y2="{bottom}"/>',
              f'<g transform="rotate(-90 18 {bottom - PLOT_HEIGHT / 2:.0f})">'
              f'{_text(18, bottom - PLOT_HEIGHT / 2, unit, anchor="middle")}</g>']
    for index, (name, points) in enumerate(series.items()):
        path = "L".join(f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in points)
        parts.append(f'<path class="line {_style(index)}" d="M{path}"/>')
        parts += [f'<circle class="{_style(index)}" cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3">'
                  f"<title>{escape(f'{name}: {x:,g}, {number(y)} {unit}')}</title></circle>" for x, y in points]
    return Chart(title, "".join(parts), bottom + 44)


def round_ticks(most: float) -> list[float]:
    """Round numbers from 0 to at most `most`, about five."""
    step = 10.0 ** math.floor(math.log10(most))
    step *= next(factor for factor in (0.1, 0.2, 0.5, 1, 2) if most / (step * factor) <= 6.5)
    return [i * step for i in range(int(most / step + 1e-9) + 1)]


def decade_ticks(least: float, most: float) -> list[float]:
    """Powers of ten around the values, with 2 and 5 between them where there is room."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    steps = (1, 2, 5) if high - low <= 2 else (1,)
    ticks = [step * 10.0 ** power for power in range(low, high + 1) for step in steps]
    first = max((t for t in ticks if t <= least), default=ticks[0])
    last = min((t for t in ticks if t >= most), default=ticks[-1])
    return [t for t in ticks if first <= t <= last]


def _rows(title: str, unit: str, groups: Sequence[Group], ticks: Sequence[float], scale: Callable[[float], float],
          draw: Callable[[Mark, str, float], tuple[str, float]]) -> Chart:
    series = list(dict.fromkeys(mark.series for group in groups for mark in group.marks))
    series.sort(key=lambda name: name != OURS)
    top = TOP + (24 if len(series) > 1 else 0)
    parts, y = [], float(top)
    for group in groups:
        middle = y + BAR * len(group.marks) / 2
        parts.append(_text(_left(groups) - 10, middle + (4 if not group.remark else -2), group.label, anchor="end"))
        if group.remark:
            parts.append(_text(_left(groups) - 10, middle + 11, group.remark, "faint", "end"))
        for mark in group.marks:
            y += BAR / 2
            shape, end = draw(mark, _style(series.index(mark.series)), y)
            parts += [shape, _text(end + 7, y + 4, f"{number(mark.value)}{'  ' + mark.note if mark.note else ''}")]
            y += BAR / 2
        y += max(GAP, 30 - BAR * len(group.marks) if group.remark else GAP)
    axis = [f'<line class="grid" x1="{scale(t):.1f}" y1="{top - 4}" x2="{scale(t):.1f}" y2="{y:.1f}"/>'
            + _text(scale(t), y + 15, f"{t:,g}", anchor="middle") for t in ticks]
    label = _text((scale(ticks[0]) + scale(ticks[-1])) / 2, y + 33, unit, anchor="middle")
    head = _text(16, 20, title, "title") + (_legend(series, TOP + 8) if len(series) > 1 else "")
    return Chart(title, head + "".join(axis) + "".join(parts) + label, y + 42)


def _left(groups: Sequence[Group]) -> float:
    longest = max((max(CHARACTER * len(g.label), FAINT_CHARACTER * len(g.remark)) for g in groups), default=0)
    return min(WIDTH / 2, 26 + longest)


def _linear(left: float, most: float, right: float = WIDTH - RIGHT) -> Callable[[float], float]:
    return lambda value: left + (right - left) * value / most


def _logarithmic(left: float, least: float, most: float) -> Callable[[float], float]:
    span = math.log(most / least) or 1.0
    return lambda value: left + (WIDTH - RIGHT - left) * math.log(max(value, least) / least) / span


def _style(index: int) -> str:
    return f"s{index % len(LIGHT_SERIES)}"


def _rect(style: str, start: float, end: float, y: float, height: float) -> str:
    return (f'<rect class="{style}" x="{start:.1f}" y="{y - height / 2:.1f}" width="{end - start:.1f}" '
            f'height="{height}"/>')


def _whisker(start: float, end: float, y: float) -> str:
    return f'<path class="whisker" d="M{start:.1f} {y - 3}v6m0 -3H{end:.1f}m0 -3v6"/>'


def _legend(series: Sequence[str], y: float) -> str:
    parts, x = [], 16.0
    for index, name in enumerate(series):
        parts.append(_rect(_style(index), x, x + 11, y - 3.5, 11) + _text(x + 16, y, name))
        x += 40 + CHARACTER * len(name)
    return "".join(parts)


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "") -> str:
    extra = (f' class="{style}"' if style else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(text)}</text>'
