"""Decodes the `value` of a result: plain JSON, and the tagged form {"$type": ...} for what JSON cannot say.

The decoded object must behave in `numpy.array(x, dtype=int)` as the program's own object would have: a set or
a mapping is no sequence, a tuple is one, a non-finite float overflows, a huge integer does not fit. What is not
recognised becomes an opaque object, which numpy refuses with TypeError as it refuses any foreign object.
"""
from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np

_FLOATS = {"nan", "+nan", "-nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
_DTYPE = re.compile(r"[<>=|]?[biufc](1|2|4|8|16)|bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)")
_MANY_DIGITS = 4000  # Above this int() takes quadratic time and, from 4300 on, refuses; every such number overflows.
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*")')


class Opaque:
    """Stands for an object that has no decoded form; numpy calls it no number and no sequence."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


def parse_result(line: bytes) -> dict[str, Any]:
    """One result line. A value nested too deeply for the parser leaves the id and the label InvalidResult."""
    try:
        record = _loads(line)
    except RecursionError:
        found = _ID.search(line)
        record = {"id": json.loads(found[1]) if found else None, "label": "InvalidResult",
                  "detail": {"message": "the value is nested too deeply"}}
    if not isinstance(record, dict):
        raise ValueError("not an object")
    return record


def _loads(line: bytes) -> Any:
    """json.loads, and the slow way only for a line with an integer longer than int() takes."""
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(line, parse_int=_bounded_int)


def decode(value: Any) -> Any:
    """The object that a JSON value stands for. Never raises for odd input; depth is bounded by the parser."""
    if isinstance(value, list):
        return [decode(item) if isinstance(item, (list, dict)) else item for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$type")
    if not isinstance(kind, str):
        return {key: decode(item) for key, item in value.items()}
    try:
        return _DECODERS.get(kind, lambda _: Opaque(kind))(value)
    except (ValueError, TypeError, KeyError, OverflowError, binascii.Error):
        return Opaque(kind)


def _payload(tagged: dict[str, Any]) -> Any:
    """What a tagged form carries, whatever its one other field is called."""
    for name in ("data", "value", "items", "repr"):
        if name in tagged:
            return tagged[name]
    raise KeyError("data")


def _bounded_int(digits: Any) -> int:
    """int() of a decimal text of any length, at a bounded cost."""
    text = str(digits)
    if len(text) <= _MANY_DIGITS:
        return int(text)
    return -(1 << 4096) if text.startswith("-") else 1 << 4096


def _float(tagged: dict[str, Any]) -> float:
    payload = _payload(tagged)
    if isinstance(payload, str) and payload.lower() not in _FLOATS:
        return float.fromhex(payload) if "0x" in payload.lower() else float(payload)
    return float(payload)


def _complex(tagged: dict[str, Any]) -> complex:
    if "real" in tagged:
        parts: Any = [tagged["real"], tagged.get("imag", 0)]
    else:
        parts = _payload(tagged)
    if isinstance(parts, str):
        return complex(parts)
    real, imag = (_float({"data": p}) if isinstance(p, str) else float(decode(p)) for p in parts)
    return complex(real, imag)


def _bytes(tagged: dict[str, Any]) -> bytes:
    return base64.b64decode(_payload(tagged), validate=True)


def _set(tagged: dict[str, Any]) -> set[Any]:
    return set(decode(_payload(tagged)))


def _dict(tagged: dict[str, Any]) -> dict[Any, Any]:
    """A mapping whose keys JSON cannot say. Its entries play no part in a grid, so they are dropped."""
    return {}


def _range(tagged: dict[str, Any]) -> range:
    parts = _payload(tagged) if "start" not in tagged else [tagged["start"], tagged["stop"], tagged.get("step", 1)]
    return range(*parts)


def _ndarray(tagged: dict[str, Any]) -> Any:
    """An array with its own dtype (base64 or listed data); without a dtype, the list it carries."""
    data, dtype, shape = _payload(tagged), tagged.get("dtype"), tagged.get("shape")
    if dtype is None:
        return decode(data)
    if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
        return Opaque("ndarray")
    if isinstance(data, str):
        array = np.frombuffer(base64.b64decode(data, validate=True), dtype=dtype)
    else:
        array = np.array(decode(data), dtype=dtype)
    return array if shape is None else array.reshape([int(side) for side in shape])


_DECODERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "int": lambda tagged: _bounded_int(_payload(tagged)),
    "bigint": lambda tagged: _bounded_int(_payload(tagged)),
    "float": _float,
    "complex": _complex,
    "bytes": _bytes,
    "bytearray": lambda tagged: bytearray(_bytes(tagged)),
    "tuple": lambda tagged: tuple(decode(_payload(tagged))),
    "set": _set,
    "frozenset": lambda tagged: frozenset(_set(tagged)),
    "dict": _dict,
    "range": _range,
    "ndarray": _ndarray,
    "array": _ndarray,
}
