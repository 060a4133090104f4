"""Jobs: what goes to zygo, as the fields of docs/jobs.md."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import values

Fields = Dict[str, Any]


class Encoded:
    """Inputs in the form that is sent, made once for the many jobs that have them."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self.text = _dump(_inputs(inputs))
        self._count = len(inputs)

    def __len__(self) -> int:
        return self._count


Inputs = Union[Sequence[Any], Encoded, None]


@dataclass
class Job:
    """One program. `fields` takes every other field of a job: `Job("print(1)", fields={"argv": ["-v"]})`."""

    source: str
    func: Optional[str] = None
    inputs: Inputs = None
    calls: Optional[Sequence[Mapping[str, Any]]] = None
    stdin: Optional[str] = None
    id: Optional[str] = None
    tag: Any = None
    template: Optional[str] = None
    limits: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_fields(self) -> Fields:
        named = ("source", "func", "inputs", "calls", "stdin", "id", "tag", "template")
        out: Fields = {name: getattr(self, name) for name in named if getattr(self, name) is not None}
        if self.limits:
            out["limits"] = dict(self.limits)
        out.update(self.fields)
        return out


AnyJob = Union[str, Job, Mapping[str, Any]]  # a string is a source


def fields_of(job: AnyJob, below: Mapping[str, Any]) -> Fields:
    """The job's own fields over those that lie below all of a pool's jobs; objects are merged by key."""
    if isinstance(job, str):
        own: Mapping[str, Any] = {"source": job}
    else:
        own = job.to_fields() if isinstance(job, Job) else job
    merged = {**below, **own}
    for name in ("limits", "policy", "determinism", "env", "files"):
        if name in below and isinstance(own.get(name), Mapping):
            merged[name] = {**below[name], **own[name]}
    return merged


def encode(fields: Fields) -> bytes:
    """One line, without its id and newline. Values of Python are put into the typed form."""
    fields = {name: value for name, value in fields.items() if name != "id"}
    encoded = fields.pop("inputs") if isinstance(fields.get("inputs"), Encoded) else None
    if fields.get("func") is not None:
        fields.setdefault("mode", "call")
        fields["func"] = str(fields["func"])
    for name in ("inputs", "calls"):
        if fields.get(name) is not None:
            fields[name] = _inputs(fields[name]) if name == "inputs" else _calls(fields[name])
    if "tests" in fields:
        fields["tests"] = [_test(test) for test in fields["tests"]]
    if encoded is None:
        return _dump(fields)
    return b'{"inputs":%b%b%b' % (encoded.text, b"," if fields else b"", _dump(fields)[1:])


def _dump(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a character: as an escape, for a line of other bytes has no id and is no job's
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _inputs(inputs: Sequence[Any]) -> List[Any]:
    return [values.encode(value) for value in inputs]


def _calls(calls: Sequence[Mapping[str, Any]]) -> List[Any]:
    return [{name: _inputs(part) if name == "args" else _named(part) for name, part in call.items()} for call in calls]


def _named(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: values.encode(value) for name, value in arguments.items()}


def _test(test: Mapping[str, Any]) -> Dict[str, Any]:
    out = dict(test)
    if "args" in out:
        out["args"] = _inputs(out["args"])
    if "kwargs" in out:
        out["kwargs"] = _named(out["kwargs"])
    if "expect" in out and not isinstance(out["expect"], str):
        out["expect"] = values.encode(out["expect"])
    return out
