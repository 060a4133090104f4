"""What a value is, beside how it looks: the data of charts, tables, lists and dicts, by MIME type (prelude.h)."""

import json
import math
import sys
import warnings

JSON = "application/json"
CHART = "application/vnd.zygo.chart+json"
DATA = "application/vnd.zygo.data+json"
MOST_CELLS = 100_000  # of a table
MOST_OF_ONE = 1 << 20  # characters of JSON
MOST_OF_CELL = 4 << 20  # the output of a cell is bounded, and its pictures have to fit into it, too

room = MOST_OF_CELL


def is_a(value, module, name):
    """Whether it is of a class of a module that the cells have loaded."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def told_of(value):
    """By MIME type; empty: it is shown without."""
    global room
    try:
        kind, told = described(value)
        text = json.dumps(told, allow_nan=False, default=plain if kind == DATA else number)
        if kind is None or told is None or len(text) > min(MOST_OF_ONE, room):
            return {}
        room -= len(text)
        return {kind: json.loads(text)}
    except Exception:  # of the cell's own values
        return {}


def described(value):
    if is_a(value, "matplotlib.figure", "Figure"):
        from zygo_kernel import charts
        return CHART, charts.chart_of(value)
    if is_a(value, "pandas", "DataFrame") and value.size <= MOST_CELLS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return DATA, columns_of(value)
    return (JSON, value) if type(value) in (dict, list) else (None, None)


def columns_of(table):
    """The values of each column, by its name; None where there is none. The index is left out."""
    return {str(name): [plain(value) for value in values] for name, values in table.to_dict(orient="list").items()}


def number(value):
    """Of numpy; an error: it is none."""
    return value.item()


def plain(value):
    """As JSON has it: numbers that are none are None, times are texts."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (str, int, bool, list, dict)) or value is None:
        return value
    if hasattr(value, "isoformat"):
        return None if value != value else value.isoformat()
    if hasattr(value, "item"):
        return plain(value.item())
    return None if value is sys.modules["pandas"].NA else str(value)
