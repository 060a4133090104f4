"""What runs inside the sandbox, before and after a function of the caller's: the setup code of a template, or the head
of a job where the template has none. Alone in its file, because it travels as text; standard library only.

`call` gets pickles from the caller and gives back a tuple that zygo's own encoder writes: (0, value) as it is, (1,
value in the shaped form), (2, pickle). The shaped form says what plain values cannot: every container is a list whose
first item names it. Nothing here is believed by the caller, for the program can change it all: `shaped.py` reads it.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import sys
from typing import Any

_SCALARS = frozenset((type(None), bool, int, float, complex, str, bytes))
_CONTAINERS = frozenset((list, tuple, dict, set, frozenset))
_KINDS = frozenset("biufcSUmM")
context: Any = None  # what the caller's context_func has returned


class _Foreign(Exception):
    """The value is of a type that has no form."""


def call(version: Any, function: bytes, arguments: bytes, trust: bool = False) -> Any:
    _check_version(version)
    callee = pickle.loads(function)
    positional, named = pickle.loads(arguments)
    _be_sequential()
    value = callee(*positional, **named)
    if trust:
        return (2, _dumps(value))
    if type(value) in _SCALARS or _is_plain(value):
        return (0, value)
    try:
        return (1, _shape(value, 0))
    except _Foreign:
        return (0, value)  # zygo's encoder says what is wrong, and where


def _check_version(version: Any) -> None:
    if version is not None and tuple(version) != sys.version_info[:2]:
        raise RuntimeError("functions travel as bytecode of Python %d.%d, and this template runs %d.%d" % (
            tuple(version) + tuple(sys.version_info[:2])))


def _be_sequential() -> None:
    """A job that asks for more processes gets none: nested parallelism runs in the job itself."""
    if os.environ.get("ZYGO_INSIDE") != "1":  # a template with the setup has said so, which costs a job nothing
        os.environ["JOBLIB_MULTIPROCESSING"] = "0"
        os.environ["ZYGO_INSIDE"] = "1"
    if "joblib" in sys.modules:
        import joblib

        getattr(joblib, "parallel_config", joblib.parallel_backend)("sequential")


def _dumps(value: Any) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    data: bytes = cloudpickle.dumps(value)
    return data


def _is_plain(value: Any) -> bool:
    """Whether there is nothing in it but builtin types, which need no shaping."""
    seen: Any = set()
    rest = [value]
    while rest:
        item = rest.pop()
        kind = type(item)
        if kind in _SCALARS:
            continue
        if kind not in _CONTAINERS:
            return False
        if id(item) in seen:
            continue
        seen.add(id(item))
        if kind is dict:
            if not set(map(type, item)) <= _SCALARS:
                rest.extend(item)
            item = item.values()
        if not set(map(type, item)) <= _SCALARS:
            rest.extend(item)
    return True


def _shape(value: Any, depth: int) -> Any:
    kind: Any = type(value)
    if kind in _SCALARS:
        return value
    if depth > 180:
        raise _Foreign
    depth += 1
    base: Any
    for base in kind.__mro__:
        name = base.__name__
        if base is tuple:
            return _shape_tuple(kind, value, depth)
        if base is list:
            return ["l"] + [_shape(item, depth) for item in list.__iter__(value)]
        if base is dict:
            return ["d"] + [_shape(part, depth) for pair in dict.items(value) for part in pair]
        if base is set or base is frozenset:
            return ["S" if base is set else "Z"] + [_shape(item, depth) for item in base.__iter__(value)]
        if base in _SCALARS:
            return _scalar(base, value) if base.__module__ == "builtins" else value
        if base.__module__ == "numpy" and name in ("ndarray", "generic"):
            return _shape_numpy(value, name)
        if base.__module__.startswith("pandas.core.") and name in ("DataFrame", "Series"):
            return _shape_pandas(value, name, depth)
        if base is kind and base.__module__ in ("fractions", "decimal", "datetime"):
            return _shape_exact(base, value)
        if base is bytearray:
            return bytes(value)
        if base is memoryview:
            return value.tobytes()
    if dataclasses.is_dataclass(kind):
        # By the name of their type: the mark that dataclasses.fields() looks for is another object in a class that came
        # by value.
        fields = [name for name, field in kind.__dataclass_fields__.items() if field._field_type.name == "_FIELD"]
        return _shape_record("D", kind, fields, [getattr(value, field) for field in fields], depth)
    raise _Foreign


def _scalar(base: type, value: Any) -> Any:
    if base is bool or base is type(None):
        return value
    if base is complex:
        return complex(value.real, value.imag)
    plain: Any = {int: int.__int__, float: float.__float__, str: str.__str__, bytes: bytes}[base]
    return plain(value)


def _shape_tuple(kind: type, value: Any, depth: int) -> Any:
    items = list(tuple.__iter__(value))
    fields = getattr(kind, "_fields", None)
    if kind is not tuple and isinstance(fields, tuple) and len(fields) == len(items):
        return _shape_record("N", kind, list(fields), items, depth)
    return ["t"] + [_shape(item, depth) for item in items]


def _shape_record(code: str, kind: type, fields: Any, items: Any, depth: int) -> Any:
    return [code, kind.__name__, fields] + [_shape(item, depth) for item in items]


def _shape_exact(kind: type, value: Any) -> Any:
    """Of the standard library's numbers and times. A time zone is a fixed offset, or none."""
    name = kind.__name__
    if name == "Fraction":
        return ["q", value.numerator, value.denominator]
    if name == "Decimal":
        return ["m", str(value)]
    if name == "timedelta":
        return ["v", value.days, value.seconds, value.microseconds]
    zone = getattr(value, "tzinfo", None)
    if name not in ("date", "time", "datetime") or (zone is not None and type(zone).__name__ != "timezone"):
        raise _Foreign
    return ["w", name, value.isoformat(), getattr(value, "fold", 0)]


def _shape_numpy(value: Any, name: str) -> Any:
    if value.dtype.kind not in _KINDS or value.dtype.names:
        raise _Foreign
    if name == "generic":
        return ["s", value.dtype.str, value.tobytes()]
    return ["a", value.dtype.str, list(value.shape), value.tobytes()]


def _shape_pandas(value: Any, name: str, depth: int) -> Any:
    index = _shape_index(value.index, depth)
    if name == "Series":
        return ["e", _shape(value.name, depth), index, _shape_column(value, depth)]
    names = [_shape(label, depth) for label in value.columns]
    return ["f", names, index] + [_shape_column(value.iloc[:, i], depth) for i in range(len(names))]


def _shape_index(index: Any, depth: int) -> Any:
    if type(index).__name__ == "RangeIndex":
        return ["r", index.start, index.stop, index.step, _shape(index.name, depth)]
    if type(index).__name__ == "MultiIndex":
        raise _Foreign
    return ["i", _shape(index.name, depth), _shape_column(index, depth)]


def _shape_column(column: Any, depth: int) -> Any:
    """By bytes where numpy has a type for it, by items where it holds objects."""
    array = column.to_numpy()
    if array.dtype.kind in _KINDS and array.dtype == column.dtype:
        return _shape_numpy(array, "ndarray")
    if column.dtype == object:
        return ["l"] + [_shape(item, depth + 1) for item in column]
    raise _Foreign
