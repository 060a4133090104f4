"""Reads the shaped form (see inside.py) of what a function has returned. It is a hostile program's: every length is
checked before anything is made, classes are never made, and methods of the caller's classes are never called.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import re
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from .errors import InvalidResult
from .values import spread

_DTYPE = re.compile(r"[<>|=](?:b1|[iu][1248]|f[248]|f16|c8|c16|c32|S[1-9]\d{0,6}|U[1-9]\d{0,6}"
                    r"|[mM]8(?:\[(?:\d{1,4})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?)")
_LAST_CODE_POINT = 0x10FFFF
_MOST_COLUMNS = 100_000
_MOST_DIGITS = 100_000  # of a decimal
_TIMES: Dict[str, Any] = {"date": datetime.date, "time": datetime.time, "datetime": datetime.datetime}

Types = Mapping[str, type]  # the caller's own classes by their names, to be filled again


class Record:
    """A dataclass of the sandbox, by its shape: a name, and fields as attributes. Equal to one that looks the same."""

    __slots__ = ("_name", "_values")

    def __init__(self, name: str, values: Dict[str, Any]) -> None:
        self._name, self._values = name, values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in self.__slots__:
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"{self._name} has no field {name!r}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and (self._name, self._values) == (other._name, other._values)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Tuple[str, Any]]:
        return iter(self._values.items())

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


class NamedRecord(Tuple[Any, ...]):
    """A named tuple of the sandbox, by its shape: equal to every tuple with the same items."""

    _name: str
    _fields: Tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        fields: Tuple[str, ...] = self.__dict__.get("_fields", ())
        if name in fields:
            return self[fields.index(name)]
        raise AttributeError(f"{self.__dict__.get('_name')} has no field {name!r}")

    def _asdict(self) -> Dict[str, Any]:
        return dict(zip(self._fields, self))

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"


def _fields_of(known: type) -> List[str]:
    """Of a dataclass. Not by dataclasses.fields(): a class that cloudpickle has made, or made anew, is none to it."""
    marked: Dict[str, Any] = getattr(known, "__dataclass_fields__", {})
    return [name for name, field in marked.items() if field._field_type.name == "_FIELD"]


def decode(value: Any, types: Types) -> Any:
    """InvalidResult where the value is not of the form."""
    try:
        return _Reader(types).read(value)
    except InvalidResult:
        raise
    except Exception as error:  # numpy and pandas have their own ways of refusing
        raise InvalidResult(f"the value is malformed: {type(error).__name__}: {error}"[:300]) from None


class _Reader:
    def __init__(self, types: Types) -> None:
        self._types = types
        self._forms: Dict[str, Callable[[List[Any]], Any]] = {
            "l": self._items, "t": lambda rest: tuple(self._items(rest)), "S": self._set,
            "Z": lambda rest: frozenset(self._set(rest)), "d": self._dict, "N": self._named_tuple, "D": self._dataclass,
            "q": self._fraction, "m": self._decimal, "v": self._duration, "w": self._time,
            "s": self._scalar, "a": self._array, "f": self._frame, "e": self._series,
        }

    def read(self, value: Any) -> Any:
        if type(value) is not list:
            if type(value) in (dict, tuple, set, frozenset):
                raise InvalidResult("the value is malformed: a bare container")
            return value
        return self._forms[value[0]](value[1:])

    def _items(self, rest: List[Any]) -> List[Any]:
        return [self.read(item) for item in rest]

    def _set(self, rest: List[Any]) -> Any:
        items = self._items(rest)
        spread(items)
        return set(items)

    def _dict(self, rest: List[Any]) -> Dict[Any, Any]:
        parts = self._items(rest)
        if len(parts) % 2:
            raise ValueError("a key without a value")
        spread(parts[::2])
        return dict(zip(parts[::2], parts[1::2]))

    # Numbers and times of the standard library

    def _fraction(self, rest: List[Any]) -> fractions.Fraction:
        numerator, denominator = rest
        if type(numerator) is not int or type(denominator) is not int:
            raise ValueError("a fraction of no integers")
        return fractions.Fraction(numerator, denominator)

    def _decimal(self, rest: List[Any]) -> decimal.Decimal:
        (text,) = rest
        if type(text) is not str or len(text) > _MOST_DIGITS:
            raise ValueError("no text of a decimal")
        try:
            return decimal.Decimal(text)
        except decimal.InvalidOperation:
            raise ValueError("no text of a decimal") from None

    def _duration(self, rest: List[Any]) -> datetime.timedelta:
        days, seconds, microseconds = rest
        if any(type(part) is not int for part in rest):
            raise ValueError("a duration of no integers")
        return datetime.timedelta(days, seconds, microseconds)

    def _time(self, rest: List[Any]) -> Any:
        name, text, fold = rest
        if type(text) is not str or type(name) is not str or fold not in (0, 1) or name not in _TIMES:
            raise ValueError("no time")
        made = _TIMES[name].fromisoformat(text)
        return made.replace(fold=fold) if fold else made

    # By shape; into the caller's own class where it named that, without a call of its methods.

    def _fields(self, rest: List[Any]) -> Tuple[str, List[str], List[Any]]:
        name, fields, items = rest[0], rest[1], self._items(rest[2:])
        if type(name) is not str or type(fields) is not list or any(type(field) is not str for field in fields):
            raise ValueError("a record's names are no strings")
        if len(fields) != len(items) or len(set(fields)) != len(fields):
            raise ValueError("a record's fields do not match its items")
        if not all(field.isidentifier() and not field.startswith("__") for field in fields):
            raise ValueError("a record's field is no name")
        return name, fields, items

    def _named_tuple(self, rest: List[Any]) -> Any:
        name, fields, items = self._fields(rest)
        known = self._types.get(name)
        if known is not None and issubclass(known, tuple) and list(getattr(known, "_fields", ())) == fields:
            return tuple.__new__(known, items)
        if any(field.startswith("_") for field in fields):
            raise ValueError("a named tuple's field is no name")
        record = tuple.__new__(NamedRecord, items)
        record.__dict__.update(_name=name, _fields=tuple(fields))
        return record

    def _dataclass(self, rest: List[Any]) -> Any:
        name, fields, items = self._fields(rest)
        known = self._types.get(name)
        if known is None or _fields_of(known) != fields:
            return Record(name, dict(zip(fields, items)))
        instance: Any = object.__new__(known)
        for field, item in zip(fields, items):
            object.__setattr__(instance, field, item)
        return instance

    # numpy

    def _bytes_as(self, dtype: Any, data: Any, count: int) -> Any:
        """A fresh array of one dimension."""
        import numpy

        if type(dtype) is not str or type(data) is not bytes or not _DTYPE.fullmatch(dtype):
            raise ValueError("no dtype of the form")
        kind = numpy.dtype(dtype)
        if len(data) != count * kind.itemsize:
            raise ValueError(f"{len(data)} bytes for {count} items of {dtype}")
        if kind.kind == "b":  # any other byte would be a truth of its own
            return numpy.frombuffer(data, numpy.uint8) != 0
        array = numpy.frombuffer(data, kind)
        if kind.kind == "U" and data:
            points = numpy.frombuffer(data, dtype[0] + "u4")
            if int(points.max()) > _LAST_CODE_POINT:
                raise ValueError("no text")
        return array.copy()

    def _array(self, rest: List[Any]) -> Any:
        dtype, shape, data = rest
        count = 1
        for length in shape:
            if type(length) is not int or length < 0:
                raise ValueError("no shape")
            count *= length
        return self._bytes_as(dtype, data, count).reshape(shape)

    def _scalar(self, rest: List[Any]) -> Any:
        dtype, data = rest
        return self._bytes_as(dtype, data, 1)[0]

    # pandas

    def _column(self, form: Any) -> Any:
        import numpy

        column = self.read(form)
        if type(column) is list:
            objects = numpy.empty(len(column), dtype=object)
            for i, item in enumerate(column):
                objects[i] = item
            return objects
        if type(column) is not numpy.ndarray or column.ndim != 1:
            raise ValueError("no column")
        return column

    def _index(self, form: Any, length: Optional[int]) -> Any:
        import pandas

        if form[0] == "r":
            start, stop, step, name = form[1], form[2], form[3], self.read(form[4])
            if any(type(number) is not int for number in (start, stop, step)):
                raise ValueError("no index")
            if length is not None and len(range(start, stop, step)) != length:
                raise ValueError("an index of another length")
            return pandas.RangeIndex(start, stop, step, name=name)
        code, name, items = form
        column = self._column(items)
        if code != "i" or length not in (None, len(column)):
            raise ValueError("no index")
        return pandas.Index(column, name=self.read(name), dtype=column.dtype)

    def _frame(self, rest: List[Any]) -> Any:
        import pandas

        names, index, columns = self._labels(rest[0]), rest[1], [self._column(form) for form in rest[2:]]
        if len(names) != len(columns):
            raise ValueError("names do not match columns")
        length = len(columns[0]) if columns else None
        if any(len(column) != length for column in columns):
            raise ValueError("columns of different lengths")
        frame = pandas.DataFrame(dict(enumerate(columns)), index=self._index(index, length))
        frame.columns = pandas.Index(names, tupleize_cols=False)
        return frame

    def _labels(self, forms: Any) -> Sequence[Any]:
        if type(forms) is not list or len(forms) > _MOST_COLUMNS:
            raise ValueError("no labels")
        return self._items(forms)

    def _series(self, rest: List[Any]) -> Any:
        import pandas

        name, index, column = self.read(rest[0]), rest[1], self._column(rest[2])
        return pandas.Series(column, index=self._index(index, len(column)), name=name, dtype=column.dtype)

