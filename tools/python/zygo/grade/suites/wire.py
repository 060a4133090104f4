"""Values between the tests' cell and the program's, as JSON. Both sides run this file; neither believes the other.

Plain values are copied: they are rebuilt from builtin data that is checked first, so that reading a line calls no method
of a class that the other side chose. Everything else crosses as a reference, which only its own side can look into:
`export` makes one, `resolve` finds what one stands for.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import enum
import fractions
import json
import keyword
from typing import Any, BinaryIO, Callable, Dict, List, Set, Tuple

from .operators import OPERATORS

MOST_BYTES = 16 << 20  # of one line
MOST_DEPTH = 100  # of containers in each other
MOST_NESTED = 40  # calls that wait for each other
_MOST_RECORDS = 1000  # kinds of named tuples
_SCALARS = {int, float, str, bool, type(None)}
_WIDE = 1 << 63  # from here on integers travel as hexadecimal digits, which have no limit of their own


class WireError(Exception):
    """What the other side sent is not of this protocol."""


class Closed(Exception):
    """The other side is gone."""


def _named_types() -> Dict[str, Any]:
    found = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and not name.startswith("_")}
    for kind in (collections.OrderedDict, collections.Counter, collections.deque, collections.defaultdict,
                 decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.datetime,
                 datetime.timedelta, datetime.timezone):
        found[f"{kind.__module__}.{kind.__qualname__}"] = kind
    return {**found, "NoneType": type(None), "function": type(lambda: 0), "NotImplemented": NotImplemented, "Ellipsis": ...}


NAMED = _named_types()
_NAME_OF = {id(kind): name for name, kind in NAMED.items()}
ERRORS = {name: kind for name, kind in vars(builtins).items()
          if isinstance(kind, type) and issubclass(kind, BaseException)}


def dump(frame: Any) -> bytes:
    line = json.dumps(frame, separators=(",", ":")).encode("ascii") + b"\n"
    if len(line) > MOST_BYTES:
        raise OverflowError(f"longer than {MOST_BYTES >> 20} MiB on its way to the other side")
    return line


def read_frame(stream: BinaryIO) -> List[Any]:
    line = stream.readline(MOST_BYTES + 1)
    if not line:
        raise Closed
    if line[-1:] != b"\n":
        raise WireError("a line that is too long, or has no end")
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a line that is no JSON: {error}") from None
    if type(frame) is not list or not frame or type(frame[0]) is not str:
        raise WireError("a line that is no frame")
    return frame


def _expect(right: bool, what: str) -> None:
    if not right:
        raise WireError(what)


def whole(value: Any) -> int:
    _expect(type(value) is int, "a number that is none")
    return int(value)


def _offset_of(moment: Any) -> Any:
    offset = moment.utcoffset()
    return None if offset is None else [offset.days, offset.seconds, offset.microseconds]


def _zone(offset: Any) -> Any:
    return None if offset is None else datetime.timezone(datetime.timedelta(*map(whole, offset)))


_USUAL_OF_RECORDS = {"_make", "_replace", "_asdict", "_field_defaults", "_fields_defaults", "_fields"}


def _is_plain_record(kind: type) -> bool:
    """A named tuple without methods and operators of its own."""
    fields = getattr(kind, "_fields", None)
    if type(fields) is not tuple or kind.__bases__ != (tuple,):
        return False
    return all(name in _USUAL_OF_RECORDS or name in fields or (name.startswith("__") and name not in OPERATORS)
               or (name == "__repr__" and getattr(value, "__module__", "") == "collections")
               for name, value in vars(kind).items())


_BASES: Tuple[Tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__pos__), (float, float.__pos__), (str, str.__str__), (bytes, lambda v: bytes.join(b"", [v])),
    (complex, complex.__pos__))


def is_flat(values: Any) -> bool:
    """Whether packing the items would change none: for long lists of numbers or words."""
    if type(values) is dict:
        return False
    kinds = set(map(type, values))
    if kinds == {int}:
        return bool(-_WIDE <= min(values) and max(values) < _WIDE)
    return kinds in ({str}, {float})


class Codec:
    """`pack` and `unpack` of one side. Its peers' objects are the subclass's."""

    def __init__(self) -> None:
        self._records: Dict[Tuple[str, Tuple[str, ...]], Any] = {}  # of named tuples: this side's classes, and copies
        self._copied: Set[Any] = set()  # of these, the copies of the other side's

    def export(self, value: Any) -> Any:
        raise NotImplementedError

    def resolve(self, tag: str, body: Any) -> Any:
        raise NotImplementedError

    def pack(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is float or kind is str:
            return value
        if kind is int:
            return value if -_WIDE <= value < _WIDE else {"i": hex(value)}
        if depth > MOST_DEPTH:
            raise RecursionError("a value that is nested too deeply to cross to the other side")
        if kind is list:
            return self.items(value, depth + 1)
        writer = _WRITERS.get(kind)
        if writer is not None:
            return writer(self, value, depth + 1)
        return self._pack_other(value, kind, depth)

    def _pack_other(self, value: Any, kind: type, depth: int) -> Any:
        name = _NAME_OF.get(id(value))
        if name is not None:
            return {"T": name}
        if issubclass(kind, tuple) and _is_plain_record(kind):
            return {"n": [*self._own_record(kind), self.items(value, depth + 1)]}
        if kind is type and issubclass(value, tuple) and _is_plain_record(value):
            return {"N": [*self._own_record(value), self.pairs(value._field_defaults.items(), depth + 1)]}
        if not issubclass(kind, enum.Enum):
            for base, exact in _BASES:
                if issubclass(kind, base):
                    return self.pack(exact(value), depth)
        if (kind.__module__ or "").partition(".")[0] == "numpy" and hasattr(value, "tolist"):
            return self.pack(value.tolist(), depth)
        return self.export(value)

    def items(self, values: Any, depth: int) -> List[Any]:
        return list(values) if is_flat(values) else [self.pack(item, depth) for item in values]

    def pairs(self, values: Any, depth: int) -> List[Any]:
        return [[self.pack(key, depth), self.pack(value, depth)] for key, value in values]

    def unpack(self, value: Any, depth: int = 0) -> Any:
        """Raises WireError for what no `pack` writes."""
        kind = type(value)
        if kind is list:
            _expect(depth <= MOST_DEPTH, "a value that is nested too deeply")
            return self.unpack_all(value, depth + 1)
        if kind is not dict:
            return value
        _expect(len(value) == 1 and depth <= MOST_DEPTH, "a value that is none")
        (tag, body), = value.items()
        reader = _READERS.get(tag)
        if reader is None:
            return self.resolve(tag, body)
        try:
            return reader(self, body, depth + 1)
        except (ValueError, TypeError, KeyError, OverflowError, ArithmeticError, SyntaxError) as error:
            raise WireError(f"a value that is no {tag}: {error}") from None

    def unpack_all(self, body: Any, depth: int = 0) -> List[Any]:
        _expect(type(body) is list, "a list that is none")
        return list(body) if set(map(type, body)) <= _SCALARS else [self.unpack(item, depth) for item in body]

    def unpack_pairs(self, body: Any, depth: int = 0) -> List[Tuple[Any, Any]]:
        _expect(type(body) is list and all(type(pair) is list and len(pair) == 2 for pair in body), "pairs that are none")
        return [(self.unpack(key, depth), self.unpack(value, depth)) for key, value in body]

    def _own_record(self, kind: Any) -> List[Any]:
        """From now on this is the class of what comes back by that name with these fields."""
        self._records.setdefault((kind.__name__, kind._fields), kind)
        return [kind.__name__, list(kind._fields)]

    def record(self, name: Any, fields: Any) -> Any:
        _expect(type(name) is str and type(fields) is list and len(fields) < 256, "a named tuple")
        for word in (name, *fields):
            _expect(type(word) is str and word.isidentifier() and not keyword.iskeyword(word) and len(word) < 256, "a name")
        key = (name, tuple(fields))
        if key not in self._records:
            _expect(len(self._records) < _MOST_RECORDS, "too many kinds of named tuples")
            self._records[key] = collections.namedtuple(name, fields)
            self._copied.add(key)
        return self._records[key]

    def record_class(self, name: Any, fields: Any, defaults: Any, depth: int) -> Any:
        """The class itself, which makes its values on this side."""
        kind = self.record(name, fields)
        given = dict(self.unpack_pairs(defaults, depth))
        _expect(list(given) == fields[len(fields) - len(given):], "defaults of a named tuple")
        if (name, tuple(fields)) in self._copied:
            kind.__new__.__defaults__, kind._field_defaults = tuple(given.values()), given
        return kind


def _read_record(codec: Codec, body: Any, depth: int) -> Any:
    name, fields, items = body
    return codec.record(name, fields)._make(codec.unpack_all(items, depth))


def _read_decimal(body: Any) -> decimal.Decimal:
    _expect(type(body) is str and len(body) < 10_000, "a decimal number")
    value = decimal.Decimal(body)
    _expect(not value.is_finite() or abs(value.adjusted()) < 100_000, "a decimal number beyond all measure")
    return value


def _read_fraction(codec: Codec, body: Any, depth: int) -> fractions.Fraction:
    parts = [whole(part) for part in codec.unpack_all(body, depth)]
    _expect(all(part.bit_length() < 300_000 for part in parts), "a fraction of too many digits")
    return fractions.Fraction(*parts)


def _read_moment(body: Any) -> Any:
    *fields, fold, offset = body
    kind: Any = datetime.datetime
    return kind(*map(whole, fields), tzinfo=_zone(offset), fold=whole(fold))


def _read_time(body: Any) -> Any:
    *fields, fold, offset = body
    kind: Any = datetime.time
    return kind(*map(whole, fields), tzinfo=_zone(offset), fold=whole(fold))


def _read_big(body: Any) -> int:
    _expect(type(body) is str and body.lstrip("-")[:2] == "0x", "a big number")
    return int(body, 16)


def _read_complex(body: Any) -> complex:
    _expect(type(body) is list and [type(part) for part in body] == [float, float], "a complex number")
    return complex(*body)


_WRITERS: Dict[type, Callable[[Codec, Any, int], Any]] = {
    tuple: lambda c, v, d: {"t": c.items(v, d)},
    dict: lambda c, v, d: {"d": c.pairs(v.items(), d)},
    set: lambda c, v, d: {"s": c.items(v, d)},
    frozenset: lambda c, v, d: {"f": c.items(v, d)},
    bytes: lambda c, v, d: {"b": v.hex()},
    bytearray: lambda c, v, d: {"B": v.hex()},
    complex: lambda c, v, d: {"c": [v.real, v.imag]},
    range: lambda c, v, d: {"r": c.items((v.start, v.stop, v.step), d)},
    slice: lambda c, v, d: {"S": c.items((v.start, v.stop, v.step), d)},
    collections.deque: lambda c, v, d: {"q": [c.items(v, d), v.maxlen]},
    collections.OrderedDict: lambda c, v, d: {"o": c.pairs(v.items(), d)},
    collections.Counter: lambda c, v, d: {"C": c.pairs(v.items(), d)},
    collections.defaultdict: lambda c, v, d: {"d": c.pairs(v.items(), d)},
    decimal.Decimal: lambda c, v, d: {"D": str(v)},
    fractions.Fraction: lambda c, v, d: {"F": c.items((v.numerator, v.denominator), d)},
    datetime.date: lambda c, v, d: {"date": [v.year, v.month, v.day]},
    datetime.datetime: lambda c, v, d: {"moment": [v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond,
                                                   v.fold, _offset_of(v)]},
    datetime.time: lambda c, v, d: {"time": [v.hour, v.minute, v.second, v.microsecond, v.fold, _offset_of(v)]},
    datetime.timedelta: lambda c, v, d: {"span": [v.days, v.seconds, v.microseconds]},
    datetime.timezone: lambda c, v, d: {"zone": _offset_of(datetime.datetime.now(v))},
}

_READERS: Dict[str, Callable[[Codec, Any, int], Any]] = {
    "t": lambda c, b, d: tuple(c.unpack_all(b, d)),
    "d": lambda c, b, d: dict(c.unpack_pairs(b, d)),
    "s": lambda c, b, d: set(c.unpack_all(b, d)),
    "f": lambda c, b, d: frozenset(c.unpack_all(b, d)),
    "b": lambda c, b, d: bytes.fromhex(b),
    "B": lambda c, b, d: bytearray.fromhex(b),
    "c": lambda c, b, d: _read_complex(b),
    "r": lambda c, b, d: range(*map(whole, c.unpack_all(b, d))),
    "S": lambda c, b, d: slice(*c.unpack_all(b, d)),
    "q": lambda c, b, d: collections.deque(c.unpack_all(b[0], d), b[1] if b[1] is None else whole(b[1])),
    "o": lambda c, b, d: collections.OrderedDict(c.unpack_pairs(b, d)),
    "C": lambda c, b, d: collections.Counter(dict(c.unpack_pairs(b, d))),
    "D": lambda c, b, d: _read_decimal(b),
    "F": _read_fraction,
    "date": lambda c, b, d: datetime.date(*map(whole, b)),
    "moment": lambda c, b, d: _read_moment(b),
    "time": lambda c, b, d: _read_time(b),
    "span": lambda c, b, d: datetime.timedelta(*map(whole, b)),
    "zone": lambda c, b, d: _zone(b),
    "i": lambda c, b, d: _read_big(b),
    "n": _read_record,
    "N": lambda c, b, d: c.record_class(b[0], b[1], b[2], d),
    "T": lambda c, b, d: NAMED[b],
}


def merged(old: Any, new: Any) -> Any:
    """`old`, changed in place to be equal to `new` as far as it can be, or else `new`."""
    if type(old) is not type(new):
        return new
    if isinstance(old, tuple):
        parts = [merged(mine, other) for mine, other in zip(old, new)]
        return old if len(old) == len(new) and all(part is mine for part, mine in zip(parts, old)) else new
    if isinstance(old, (list, collections.deque)):
        items = [merged(mine, other) for mine, other in zip(old, new)] + list(new)[len(old):]
        old.clear()
        old.extend(items)
    elif isinstance(old, dict):
        pairs = {key: merged(old[key], item) if key in old else item for key, item in new.items()}
        old.clear()
        old.update(pairs)
    elif isinstance(old, set):
        old.clear()
        old.update(new)
    elif isinstance(old, bytearray):
        old[:] = new
    else:
        return new
    return old
