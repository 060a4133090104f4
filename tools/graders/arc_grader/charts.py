"""The pictures of the report, as inline SVG: outcomes as bars, runs on a timeline, finished jobs per second."""
from __future__ import annotations

import math
import re
from html import escape

from .grading import Graded, Span
from .judge import OK, PARSING_FAILED

# CSS class -> (name in the legend, colour). A class tells who decided the outcome.
GROUPS = {
    "ok": ("OK", "#2f9e6e"),
    "program": ("failure of the program", "#4a7fc1"),
    "limit": ("limit", "#e0962a"),
    "policy": ("policy", "#8d5bb5"),
    "other": ("no program, or trouble outside it", "#c8433f"),
}
_LIMITS = {"TimeoutException", "MemoryLimitExceeded", "OutputLimitExceeded", "DiskLimitExceeded",
           "ProcessLimitExceeded"}
_POLICIES = {"UnsafeCode", "NonDeterministicCode"}
_TROUBLES = {PARSING_FAILED, "BadJob", "Cancelled", "SandboxError"}
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

WIDTH, LEFT, RIGHT = 1000, 70, 20  # of a time chart, in SVG units
MAX_LANES = 64
BUCKETS = 80


def printable(text: str) -> str:
    """The text without characters that XML forbids; a program chooses its messages."""
    return _UNPRINTABLE.sub("\ufffd", text)


def group_of(label: str) -> str:
    """The CSS class of a label."""
    if label == OK:
        return "ok"
    for name, labels in (("limit", _LIMITS), ("policy", _POLICIES), ("other", _TROUBLES)):
        if label in labels:
            return name
    return "program"


def legend() -> str:
    """Colour and meaning of the groups."""
    parts, x = [], 0
    for name, (text, _) in GROUPS.items():
        parts.append(f'<rect class="{name}" x="{x}" y="4" width="12" height="12"/>'
                     f'<text x="{x + 17}" y="14">{text}</text>')
        x += 40 + 7 * len(text)
    return f'<svg viewBox="0 0 {WIDTH} 22" role="img" aria-label="Legend">{"".join(parts)}</svg>'


def outcome_bars(graded: Graded) -> str:
    """One horizontal bar per label. Square-root lengths keep the rare ones visible; the numbers are exact."""
    ordered = graded.report.error_table()
    most = ordered[0][1]
    left, right, step = 190, 130, 22
    span = WIDTH - left - right
    parts = []
    for row, (label, count, share) in enumerate(ordered):
        y, length = 6 + row * step, span * math.sqrt(count / most)
        parts.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(printable(label[:40]))}</text>'
                     f'<rect class="{group_of(label)}" x="{left}" y="{y}" width="{length:.1f}" height="16"/>'
                     f'<text x="{left + length + 6:.1f}" y="{y + 13}">{count} ({share:.2%})</text>')
    bottom = 6 + len(ordered) * step
    for tick in _ticks(most):
        x = left + span * math.sqrt(tick / most)
        parts.insert(0, f'<line class="grid" x1="{x:.1f}" y1="2" x2="{x:.1f}" y2="{bottom}"/>'
                        f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{tick:g}</text>')
    parts.append(f'<text x="{left + span / 2}" y="{bottom + 34}" text-anchor="middle">'
                 "predictions (square-root scale)</text>")
    return _svg(bottom + 42, "Outcomes of the predictions by label", parts)


def timeline(graded: Graded) -> str:
    """Every run as a bar in the first lane that was free when it started."""
    total = _end(graded)
    lanes = assign_lanes(graded.spans, slack=total / 2000)
    n_lanes = max(lanes) + 1
    height = max(4.0, min(28.0, 320 / n_lanes))
    bottom = 8 + n_lanes * height
    parts = _time_axis(total, bottom) + [_y_label("lane", bottom)]
    if n_lanes <= 16:
        parts += [f'<text x="{LEFT - 6}" y="{8 + (lane + 0.5) * height + 3:.1f}" text-anchor="end">{lane + 1}</text>'
                  for lane in range(n_lanes)]
    short: dict[str, list[str]] = {}
    for span, lane in zip(graded.spans, lanes, strict=True):
        x, width = _x(span.start, total), (span.end - span.start) / total * (WIDTH - LEFT - RIGHT)
        y, bar = 8 + lane * height, height * 0.85
        if width < 2:  # Thousands of these: one path per group, and no names to hover over.
            width = max(width, 0.3)
            outline = f"M{x:.2f} {y:.1f}h{width:.2f}v{bar:.1f}h-{width:.2f}z"
            short.setdefault(group_of(span.label), []).append(outline)
            continue
        title = f"{span.id}: {span.label}, {1000 * (span.end - span.start):.0f} ms"
        parts.append(f'<rect class="{group_of(span.label)}" x="{x:.2f}" y="{y:.1f}" '
                     f'width="{width:.2f}" height="{bar:.1f}">'
                     f"<title>{escape(printable(title))}</title></rect>")
    parts += [f'<path class="{name}" d="{"".join(pieces)}"/>' for name, pieces in short.items()]
    return _svg(bottom + 42, "When each job ran", parts)


def throughput(graded: Graded) -> str:
    """Finished jobs per second over time, in equal steps."""
    total = _end(graded)
    finished = [0] * BUCKETS
    for span in graded.spans:
        finished[min(BUCKETS - 1, int(span.end / total * BUCKETS))] += 1
    rates = [count * BUCKETS / total for count in finished]
    top, bottom = max(rates), 208
    parts = _time_axis(total, bottom) + [_y_label("finished jobs per second", bottom)]
    for tick in _ticks(top):
        y = bottom - 190 * tick / top
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
                     f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    step = (WIDTH - LEFT - RIGHT) / BUCKETS
    levels = [bottom - 190 * rate / top for rate in rates]
    outline = "".join(f"L{LEFT + i * step:.1f} {y:.1f}h{step:.2f}" for i, y in enumerate(levels))
    parts.append(f'<path class="program" fill-opacity="0.75" d="M{LEFT} {bottom}{outline}L{WIDTH - RIGHT} {bottom}z"/>')
    return _svg(bottom + 42, "Finished jobs per second", parts)


def assign_lanes(spans: list[Span], slack: float) -> list[int]:
    """The lane of every span, so that those in one lane follow each other; overlaps up to `slack` seconds pass.

    Starts are estimates, so lanes may outnumber the workers; the last lane takes whatever is left over.
    """
    ends: list[float] = []
    lanes = [0] * len(spans)
    for index in sorted(range(len(spans)), key=lambda i: spans[i].start):
        start, end = spans[index].start, spans[index].end
        lane = next((i for i, busy_until in enumerate(ends) if busy_until <= start + slack), len(ends))
        if lane == len(ends) and lane < MAX_LANES:
            ends.append(end)
        lane = min(lane, MAX_LANES - 1)
        ends[lane] = max(ends[lane], end)
        lanes[index] = lane
    return lanes


def _end(graded: Graded) -> float:
    """End of the time axis in seconds, never 0."""
    return max([graded.seconds, 1e-3, *(span.end for span in graded.spans)])


def _x(seconds: float, total: float) -> float:
    return LEFT + seconds / total * (WIDTH - LEFT - RIGHT)


def _ticks(most: float) -> list[float]:
    """Round numbers from 0 up to `most`, about five."""
    step = 10.0 ** math.floor(math.log10(most)) if most > 0 else 1.0
    for factor in (0.2, 0.5, 1, 2):
        if most / (step * factor) <= 6:
            step *= factor
            break
    return [i * step for i in range(int(most / step + 1e-9) + 1)]


def _time_axis(total: float, bottom: float) -> list[str]:
    parts = [f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{WIDTH - RIGHT}" y2="{bottom}"/>']
    for tick in _ticks(total):
        x = _x(tick, total)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="4" x2="{x:.1f}" y2="{bottom}"/>'
                     f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{tick:g}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{bottom + 34}" text-anchor="middle">'
                 "seconds since the start of the batch</text>")
    return parts


def _y_label(text: str, bottom: float) -> str:
    return f'<text x="14" y="{bottom / 2}" text-anchor="middle" transform="rotate(-90 14 {bottom / 2})">{text}</text>'


def _svg(height: float, title: str, parts: list[str]) -> str:
    return (f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
            f'<title>{escape(title)}</title>{"".join(parts)}</svg>')
