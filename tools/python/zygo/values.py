"""The typed JSON form of docs/values.md, both ways. `decode` reads what a hostile program wrote: it builds nothing but
builtin types and numpy arrays, calls no method of any object it has read, and its work is linear in the text's size.
"""

from __future__ import annotations

import base64
import binascii
import math
import sys
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple

from .errors import InvalidResult

_PLAIN = frozenset((type(None), bool, int, str))
_MOST_ALIKE = 64  # keys of one hash: more is an attack, for honest ones have hashes that differ
_MOST_TEXT_BYTES = 64 << 20  # of an array of strings, where every item takes what the longest takes


# Towards the sandbox

def encode(value: Any) -> Any:
    """What json.dumps can write. A ValueError or TypeError names what cannot be said."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$type": "float", "value": _name_of(value)}
    if kind is list:
        return value if _PLAIN.issuperset(map(type, value)) else [encode(item) for item in value]
    if kind is tuple:
        return {"$type": "tuple", "items": [encode(item) for item in value]}
    if kind is dict:
        return _encode_dict(value)
    return _encode_other(value)


def _name_of(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _encode_dict(value: Dict[Any, Any]) -> Any:
    if all(type(key) is str and key != "$type" for key in value):
        return {key: encode(item) for key, item in value.items()}
    return {"$type": "dict", "items": [[encode(key), encode(item)] for key, item in value.items()]}


def _encode_other(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$type": "bytes", "data": base64.b64encode(value).decode()}
    if isinstance(value, complex):
        return {"$type": "complex", "real": encode(float(value.real)), "imag": encode(float(value.imag))}
    if isinstance(value, (set, frozenset)):
        name = "frozenset" if isinstance(value, frozenset) else "set"
        return {"$type": name, "items": [encode(item) for item in value]}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return {"$type": "ndarray", "dtype": value.dtype.name, "shape": list(value.shape),
                "data": encode(value.tolist())}
    if numpy is not None and isinstance(value, numpy.generic):
        return encode(value.item())
    for base in (bool, int, float, str, list, tuple, dict):  # subclasses are written as their base
        if isinstance(value, base):
            return encode(_as(base, value))
    raise TypeError(f"an input of type {type(value).__name__} cannot be encoded; convert it first")


def _as(base: Any, value: Any) -> Any:
    if base is int:
        return int.__int__(value)
    if base is float:
        return float.__float__(value)
    if base is str:
        return str.__str__(value)
    return base(value)


# Out of the sandbox

def decode(value: Any, parts: Sequence[bytes] = ()) -> Any:
    """The Python value of a `value` that json.loads has read; `parts` came before its line. InvalidResult if it is not
    of the form."""
    try:
        return _decode(_with_parts(value, parts) if parts else value)
    except (IndexError, KeyError, TypeError, ValueError, OverflowError, RecursionError, binascii.Error) as error:
        raise InvalidResult(f"the value is malformed: {type(error).__name__}: {error}"[:300]) from None


def _with_parts(value: Any, parts: Sequence[bytes]) -> Any:
    """The same with the bytes themselves where it names one of the parts."""
    kind = type(value)
    if kind is list:
        return [_with_parts(item, parts) for item in value]
    if kind is not dict:
        return value
    if value.get("$type") == "bytes" and "part" in value:
        return parts[value["part"]]
    return {key: _with_parts(item, parts) for key, item in value.items()}


def _decode(value: Any) -> Any:
    kind = type(value)
    if kind is list:
        for item in value:
            if type(item) is list or type(item) is dict:
                return [_decode(item) for item in value]
        return value
    if kind is dict:
        tag = value.get("$type")
        if tag is None:
            return {key: _decode(item) for key, item in value.items()}
        return _TAGGED[tag](value)
    return value


def _decode_items(value: Dict[str, Any]) -> List[Any]:
    items = _decode(value["items"])
    if type(items) is not list:
        raise ValueError("items is no list")
    return items


def spread(keys: Iterable[Any]) -> None:
    """Refuses keys that were made to share a hash: a dict of them would take quadratic time."""
    seen: Dict[int, int] = {}
    for key in keys:
        if type(key) is str or type(key) is bytes:
            continue  # randomised
        alike = seen.get(hash(key), 0) + 1
        if alike > _MOST_ALIKE:
            raise ValueError("too many keys of a set or dict share one hash")
        seen[hash(key)] = alike


def _decode_set(value: Dict[str, Any]) -> Any:
    items = _decode_items(value)
    spread(items)
    return set(items)


def _decode_pairs(value: Dict[str, Any]) -> Dict[Any, Any]:
    pairs: List[Tuple[Any, Any]] = [(_decode(key), _decode(item)) for key, item in value["items"]]
    spread(key for key, _ in pairs)
    return dict(pairs)


def _decode_number(value: Any) -> float:
    return float(_decode(value))


def _decode_complex(value: Dict[str, Any]) -> complex:
    return complex(_decode_number(value["real"]), _decode_number(value["imag"]))


def _decode_array(value: Dict[str, Any]) -> Any:
    """A numpy array where numpy is to be had; else, and for arrays of strings that would explode, the nested list."""
    data = _decode(value["data"])
    name = str(value["dtype"])
    try:
        import numpy
    except ImportError:
        return data
    if name.startswith(("str", "bytes")):
        return numpy.array(data).reshape(value["shape"]) if _is_small_text(data) else data
    if name not in _DTYPES:
        return data
    return numpy.array(data, dtype=name).reshape(value["shape"])


_DTYPES = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
                    "complex128".split())


def _is_small_text(data: Any) -> bool:
    count, longest, rest = 0, 0, [data]
    while rest:
        item = rest.pop()
        if type(item) is list:
            rest.extend(item)
        else:
            count, longest = count + 1, max(longest, len(item))
    return count * longest * 4 <= _MOST_TEXT_BYTES


_TAGGED: Dict[str, Callable[[Dict[str, Any]], Any]] = {
    "tuple": lambda value: tuple(_decode_items(value)),
    "set": _decode_set,
    "frozenset": lambda value: frozenset(_decode_set(value)),
    "dict": _decode_pairs,
    "bytes": lambda value: base64.b64decode(value["data"], validate=True),
    "float": lambda value: float(value["value"]),
    "complex": _decode_complex,
    "ndarray": _decode_array,
}
