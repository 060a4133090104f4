"""What is said once for many jobs is checked where it is said: limits, a template, the names of fields. The runtime itself
decides, by the rules that it has for jobs: it is asked what it has against a job that has all of these and no source. What
it has not been asked about, such as the contents of a source, is in the result of its job (`BadJob`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Hashable, Iterator, List, Mapping, Optional, Union

from . import job as jobs
from .errors import RuntimeLost, exception_of
from .result import Result, failed

if TYPE_CHECKING:
    from .transport.base import Transport

# Fields that have a job's own data: that there are such fields is known, and what they hold is not looked at here.
_DATA = frozenset(["argv", "calls", "env", "files", "func", "id", "inputs", "mode", "session", "source", "sources", "stdin",
                   "tag"])
_STUBS: Dict[str, Any] = {"argv": [], "args": [], "expect": "", "files": {}, "kwargs": {}, "stdin": ""}
_JUDGES = ("checker", "interactor")
_MOST_KEPT = 256  # shapes that a runtime has agreed to; after that many, results have to say what is wrong
_TEMPLATE_FAILS = "template "  # how the reason begins where a template cannot be started: no job of it can be run


def shape_of(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """What of a job is asked about. Empty: nothing that could be wrong."""
    shape = {name: value for name, value in fields.items() if name not in _DATA}
    if isinstance(shape.get("tests"), (list, tuple)):
        shape["tests"] = _kinds_of_tests(shape["tests"])
    for name in _JUDGES:
        if isinstance(shape.get(name), Mapping) and isinstance(shape[name].get("source"), str):
            shape[name] = {**shape[name], "source": "-"}
    return shape


def _kinds_of_tests(tests: Any) -> List[Any]:
    """One of each kind: their fields, without what is in them."""
    kinds: Dict[Any, Any] = {}
    for test in tests:
        if isinstance(test, Mapping):
            key = (tuple(test), str(test.get("compare")))
            if key not in kinds:
                kinds[key] = {name: test[name] if name == "compare" else _STUBS.get(name) for name in test if name != "name"}
        else:
            kinds[repr(type(test))] = test
    return list(kinds.values())


def check(transport: Transport, fields: Mapping[str, Any]) -> None:
    """BadJob where any job with these fields would be refused. NoRuntime, RuntimeLost: there is nobody to ask."""
    key = _key_of(fields)
    if not key or key in transport.agreed or len(transport.agreed) >= _MOST_KEPT:
        return
    shape = shape_of(fields)
    template = shape.get("template")
    message = transport.refusal(jobs.encode(shape), template if isinstance(template, str) else None)
    if message is not None:
        raise exception_of(failed("BadJob", "caller", message))
    transport.agreed.add(key)


def _key_of(fields: Mapping[str, Any]) -> Hashable:
    """Equal for fields of the same shape. Made for each job: that is quicker than to make the shape itself."""
    parts: List[Any] = []
    for name, value in fields.items():
        if name in _DATA:
            continue
        if name == "tests" and isinstance(value, (list, tuple)):
            value = frozenset([(*test, test.get("compare")) if type(test) is dict else repr(test)[:100] for test in value])
        elif type(value) is dict:  # 1, 1.0 and True are not the same here
            value = tuple([(key, type(one), one) for key, one in value.items()])
        parts.append((name, value))
    found = tuple(parts)
    try:
        hash(found)
    except TypeError:
        return repr(found)
    return found


def check_when_reachable(transport: Transport, fields: Mapping[str, Any]) -> bool:
    """The same; False where a service cannot be asked now: its first job will say so."""
    try:
        check(transport, fields)
    except RuntimeLost:
        return False
    return True


def refused_by(detail: Mapping[str, Any]) -> Optional[str]:
    """Of a line without a source: what is wrong with it beside that."""
    message = str(detail.get("message", ""))
    return None if detail.get("path") == "source" and message == "source: required" else message


def told(result: Result) -> Result:
    """Itself, unless it says that the pool's template cannot be started, which is raised: no job has been looked at."""
    if result.by == "caller" and str(result.detail.get("message", "")).startswith(_TEMPLATE_FAILS):
        raise exception_of(result)
    return result


def all_told(results: Iterator[Result]) -> Iterator[Result]:
    try:
        yield from map(told, results)
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()


def seconds(name: str, value: Any) -> float:
    """A time that a caller gives, as a number above 0; ValueError or TypeError, which name it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) and not hasattr(value, "__float__"):
        raise TypeError(f"{name}={value!r}: expected a number of seconds")
    number = float(value)
    if not 0 < number < float("inf"):
        raise ValueError(f"{name}={value!r}: expected a number of seconds above 0")
    return number


def milliseconds(name: str, value: Any) -> int:
    """The same, as limits have it."""
    return max(1, round(seconds(name, value) * 1000))


_UNITS = {"": 1 << 20, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def mebibytes(size: Union[int, str]) -> int:
    """`"2GB"`, `"512MB"`, `"8KB"`; a bare number is MiB, as in HTCondor's memory."""
    text = str(size).strip().upper().replace("IB", "B")
    number = text.rstrip("BKMGT")
    unit = text[len(number):].rstrip("B") or ("B" if text.endswith("B") else "")
    try:
        count = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise ValueError(f"{size!r} is no size; write e.g. 2GB") from None
    return max(1, -(-int(count) // (1 << 20)))
