"""The data of a matplotlib figure as a chart of E2B's code-interpreter API; imported once there is a figure."""

import bisect
import datetime
import math
import re
import warnings

import numpy
from matplotlib import category, dates, ticker
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle, Shadow, Wedge
from matplotlib.transforms import IdentityTransform

LINE, SCATTER, BAR, PIE = "line", "scatter", "bar", "pie"
BOX_AND_WHISKER, SUPERCHART, UNKNOWN = "box_and_whisker", "superchart", "unknown"

MAX_AXES = 100
MAX_POINTS = 100_000
MAX_CHARACTERS = 4_000_000
MAX_SEARCHED = 1000  # characters of an axis label that are searched for a unit
ANGLE_DIGITS = 4  # matplotlib computes the angles of a pie in single precision

DECORATIONS = (Legend, Shadow)
DATE_CONVERTERS = (dates.DateConverter, dates.ConciseDateConverter,
                   getattr(dates, "_SwitchableDateConverter", dates.DateConverter))
FIXED_LOCATORS = (ticker.FixedLocator, category.StrCategoryLocator)
NO_LINE = ("None", "none", " ", "")
UNIT = re.compile(r"\s\(([^)\n]*)\)|\[([^\]\n]*)\]")
UNNAMED = re.compile(r"_(?:child|container)(\d+)")


class TooLarge(Exception):
    """The figure holds more than a chart may carry."""


class Budget:
    """What a chart may still carry: points (a tick, a bar or a wedge counts as one) and characters of text."""

    def __init__(self):
        self.points, self.characters = MAX_POINTS, MAX_CHARACTERS

    def items(self, sequence):
        self.points -= len(sequence)
        if self.points < 0:
            raise TooLarge
        return sequence

    def text(self, text):
        self.characters -= len(text)
        if self.characters < 0:
            raise TooLarge
        return str(text)


def chart_of(figure):
    """The chart of a figure: a dict that is ready for JSON, or None without data or with too much of it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            every = figure.axes
            if len(every) > MAX_AXES or not any(axes.has_data() for axes in every):
                return None
            budget = Budget()
            charts = [axes_chart(axes, budget) for axes in every]
            if len(charts) == 1:
                return charts[0]
            return {"type": SUPERCHART, "title": budget.text(suptitle(figure)), "elements": charts}
    except Exception:
        return None


def suptitle(figure):
    if hasattr(figure, "get_suptitle"):  # since matplotlib 3.8
        return figure.get_suptitle()
    return figure._suptitle.get_text() if figure._suptitle else ""


def axes_chart(axes, budget):
    """The chart of one subplot; that of a subplot which cannot be read is unknown."""
    chart = {"type": UNKNOWN, "title": None, "elements": []}
    try:
        chart["title"] = budget.text(axes.get_title()) or None
        kind = kind_of(axes)
        return {**chart, "type": kind, **READERS[kind](axes, budget)} if kind in READERS else chart
    except TooLarge:
        raise
    except Exception:
        return chart


def kind_of(axes):
    """The kind of chart that explains every artist of the axes, guide lines aside."""
    if axes.name == "3d":  # its artists hold projected coordinates
        return UNKNOWN
    groups = (axes.lines, axes.patches, axes.collections, axes.images, axes.tables, axes.artists)
    artists = [artist for group in groups for artist in group if not isinstance(artist, DECORATIONS)]
    if all(isinstance(artist, Line2D) for artist in artists):
        return LINE
    if all(isinstance(artist, (Line2D, PathPatch)) for artist in artists):
        return BOX_AND_WHISKER
    drawn = [artist for artist in artists if not (isinstance(artist, Line2D) and is_guide_line(artist))]
    if all(is_scatter(artist) for artist in drawn):
        return SCATTER
    if all(isinstance(artist, Wedge) for artist in drawn):
        return PIE
    return BAR if all(isinstance(artist, Rectangle) for artist in drawn) else UNKNOWN


def is_guide_line(line):
    """Whether a line is one horizontal or vertical segment."""
    x, y = line.get_data()
    return len(x) == len(y) == 2 and bool(x[0] == x[1] or y[0] == y[1])


def is_scatter(artist):
    """Whether an artist is a set of markers; a filled contour of matplotlib before 3.8 has the same class."""
    return isinstance(artist, PathCollection) and not isinstance(artist.get_offset_transform(), IdentityTransform)


def axis_labels(axes, budget, horizontal=False):
    """The labels and units of the axes; a horizontal chart is described as if it were vertical."""
    labels = [axes.get_ylabel(), axes.get_xlabel()] if horizontal else [axes.get_xlabel(), axes.get_ylabel()]
    fields = {}
    for name, label in zip("xy", labels):
        unit = UNIT.search(label[:MAX_SEARCHED])  # as in "Time (s)" or "Time [s]"
        fields[f"{name}_label"] = budget.text(label) or None
        fields[f"{name}_unit"] = (unit[1] or unit[2] or None) if unit else None
    return fields


def name_of(artist, kind, budget):
    """The label of an artist, with a name in place of matplotlib's own number."""
    label = budget.text(artist.get_label())
    unnamed = UNNAMED.fullmatch(label)
    return f"{kind} {unnamed[1]}" if unnamed else label


def finite(number):
    return number if math.isfinite(number) else None


def rounded(number):
    """A number without the error of its computation."""
    return float(f"{number:.12g}")


def value_of(value, budget):
    """A coordinate in JSON: a number, a text, a time in ISO 8601, or None."""
    if value is None or value is numpy.ma.masked:
        return None
    if isinstance(value, numpy.datetime64):
        return None if numpy.isnat(value) else budget.text(str(value.astype("datetime64[s]")))
    if isinstance(value, datetime.date):
        return budget.text(value.isoformat()) if value == value else None  # pandas' NaT is a date
    if not isinstance(value, (str, bytes)):
        try:
            return finite(float(value))
        except OverflowError:
            return None
        except (TypeError, ValueError):
            pass
    return budget.text(str(value))


def values_of(sequence, budget):
    """The coordinates of a series in JSON."""
    if isinstance(sequence, numpy.ndarray) and sequence.dtype.kind in "biuf":
        numbers = numpy.ma.filled(numpy.ma.asarray(sequence, dtype=float), math.nan)
        return [finite(number) for number in numbers.tolist()]
    return [value_of(value, budget) for value in sequence]


def series(label, x, y, budget):
    count = min(len(x), len(y))
    budget.items(range(count + 1))
    points = zip(values_of(x[:count], budget), values_of(y[:count], budget))
    return {"label": label, "points": [list(point) for point in points]}


def ticks_of(axis, budget):
    """Positions and labels of the major ticks."""
    positions = [float(position) for position in budget.items(axis.get_majorticklocs())]
    return positions, [budget.text(label.get_text()) for label in axis.get_majorticklabels()]


def converter_of(axis):
    return axis.get_converter() if hasattr(axis, "get_converter") else axis.converter  # the former since 3.10


def has_dates(axis):
    """Whether the positions on an axis are days since the epoch; those of pandas' periods are not."""
    converter = converter_of(axis)
    return isinstance(converter, DATE_CONVERTERS) and not type(converter).__name__.startswith("Period")


def position_value(axis, position, budget):
    return budget.text(dates.num2date(position).isoformat()) if has_dates(axis) else finite(position)


def scale_of(axis, positions, labels):
    if has_dates(axis):
        return "datetime"
    if axis.get_scale() != "linear":
        return axis.get_scale()
    numbered = positions == list(range(len(positions))) and bool(positions)
    named = numbered and not any(is_number(label, position) for position, label in zip(positions, labels))
    return "categorical" if named or isinstance(converter_of(axis), category.StrCategoryConverter) else "linear"


def is_number(label, number):
    try:
        return float(label) == number
    except ValueError:
        return False


def planar(axes, budget):
    """The fields of a chart of points, without its elements."""
    fields = axis_labels(axes, budget)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        positions, labels = ticks_of(axis, budget)
        fields[f"{name}_ticks"] = [position_value(axis, position, budget) for position in positions]
        fields[f"{name}_tick_labels"] = labels
        fields[f"{name}_scale"] = budget.text(scale_of(axis, positions, labels))
    return fields


def read_lines(axes, budget):
    return {**planar(axes, budget), "elements": [series(name_of(line, "Line", budget), *line.get_data(), budget)
                                                 for line in axes.lines if not is_guide_line(line)]}


def read_scatter(axes, budget):
    return {**planar(axes, budget), "elements": [series(budget.text(markers.get_label()), *markers.get_offsets().T,
                                                        budget) for markers in axes.collections]}


def read_pie(axes, budget):
    wedges = budget.items([patch for patch in axes.patches if isinstance(patch, Wedge)])
    return {"elements": [{"label": budget.text(wedge.get_label()),
                          "angle": finite(round(abs(float(wedge.theta2) - float(wedge.theta1)), ANGLE_DIGITS)),
                          "radius": finite(float(wedge.r))} for wedge in wedges]}


def nearest(positions, position):
    """The index of the nearest of some sorted positions."""
    index = bisect.bisect_left(positions, position)
    return min(range(max(0, index - 1), min(len(positions), index + 1)),
               key=lambda near: abs(positions[near] - position))


def labels_at(axis, ticks, centres, budget):
    """Labels of bars or boxes: those of the ticks that stand for them, else their positions."""
    ticks = [tick for tick in zip(*ticks) if tick[1]]
    fixed = isinstance(axis.get_major_locator(), FIXED_LOCATORS)
    ordered = sorted(ticks)
    positions = [position for position, _ in ordered]
    closest = [ordered[nearest(positions, centre)] for centre in centres] if ticks else []
    met = bool(ticks) and all(math.isclose(tick[0], centre, abs_tol=1e-9) for tick, centre in zip(closest, centres))
    if fixed and len(ticks) == len(centres) and not met:  # the ticks of grouped bars are anywhere in the group
        closest = ticks
    if met or (fixed and ticks):
        return [budget.text(label) for _, label in closest]
    values = [position_value(axis, centre, budget) for centre in centres]
    return [value if isinstance(value, str) else f"{centre:g}" for value, centre in zip(values, centres)]


def read_bars(axes, budget):
    containers = [container for container in axes.containers if isinstance(container, BarContainer)]
    lying = [container.orientation == "horizontal" for container in containers]
    axis_of = {True: axes.yaxis, False: axes.xaxis}
    ticks = {horizontal: ticks_of(axis_of[horizontal], budget) for horizontal in set(lying)}
    elements = []
    for container, horizontal in zip(containers, lying):
        group = name_of(container, "Group", budget)
        bars = [(bar.get_y(), bar.get_height(), bar.get_width()) if horizontal else
                (bar.get_x(), bar.get_width(), bar.get_height()) for bar in budget.items(container.patches)]
        centres = [float(start + extent / 2) for start, extent, _ in bars]
        labels = labels_at(axis_of[horizontal], ticks[horizontal], centres, budget)
        for label, bar in zip(labels, bars):
            elements.append({"label": label, "group": budget.text(group), "value": finite(float(bar[2]))})
    return {**axis_labels(axes, budget, any(lying)), "elements": elements}


class Box:
    """A box on the axis of positions and on that of values, with what the lines around it tell."""

    def __init__(self, positions, values):
        corner = 5 if len(values) > 6 else 2  # of the third quartile; a notch adds corners, some beyond the quartiles
        self.left, self.right = float(min(positions)), float(max(positions))
        self.low, self.high = sorted((float(values[0]), float(values[corner])))
        self.centre = (self.left + self.right) / 2
        self.min, self.max = self.low, self.high
        self.bars, self.markers = [], []  # (width, value) of lines across the box, and values of points

    def add(self, positions, values, has_line):
        if not all(self.left <= position <= self.right for position in positions):
            return
        if not has_line:
            self.markers.extend(values)
        elif len(values) == 2 and positions[0] != positions[1]:
            if values[0] == values[1] and self.low <= values[0] <= self.high:
                self.bars.append((abs(positions[1] - positions[0]), values[0]))
        elif len(values) == 2 and max(values) == self.low:
            self.min = min(values)
        elif len(values) == 2 and min(values) == self.high:
            self.max = max(values)

    def median(self):
        """The first line of full width, since a mean comes later; in a notched box the last one, after its caps."""
        full = [value for width, value in self.bars if math.isclose(width, self.right - self.left)]
        return full[0] if full else self.bars[-1][1]

    def element(self, label):
        return {"label": label, "min": rounded(self.min), "first_quartile": rounded(self.low),
                "median": rounded(self.median()), "third_quartile": rounded(self.high), "max": rounded(self.max),
                "outliers": [rounded(value) for value in self.markers if not self.min <= value <= self.max]}


def boxes_of(axes, lines, order):
    """The boxes in one of the two orientations; none has a median in the wrong one."""
    shapes = [patch.get_path().vertices.T[order] for patch in axes.patches if isinstance(patch, PathPatch)]
    boxes = sorted((Box(*shape) for shape in shapes if numpy.isfinite(shape).all()), key=lambda box: box.centre)
    centres = [box.centre for box in boxes]
    for coordinates, has_line in lines if boxes else ():
        positions, values = coordinates[order]
        boxes[nearest(centres, positions[0])].add(positions, values, has_line)
    return [box for box in boxes if box.bars]


def read_boxes(axes, budget):
    lines = []
    for line in axes.lines:
        x, y = line.get_data(orig=False)
        x, y = budget.items(x).tolist(), y.tolist()
        if x and all(map(math.isfinite, x + y)):
            lines.append(((x, y), line.get_linestyle() not in NO_LINE))
    upright, lying = boxes_of(axes, lines, slice(None)), boxes_of(axes, lines, slice(None, None, -1))
    horizontal = len(lying) > len(upright)
    boxes, axis = (lying, axes.yaxis) if horizontal else (upright, axes.xaxis)
    if not boxes:
        raise ValueError("the paths are no boxes")
    labels = labels_at(axis, ticks_of(axis, budget), [box.centre for box in boxes], budget)
    elements = [box.element(label) for box, label in zip(boxes, labels)]
    return {**axis_labels(axes, budget, horizontal), "elements": elements}


READERS = {LINE: read_lines, SCATTER: read_scatter, BAR: read_bars, PIE: read_pie, BOX_AND_WHISKER: read_boxes}
