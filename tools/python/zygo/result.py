"""Results: how a job ended, as dataclasses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import values
from .errors import InvalidResult, exception_of


@dataclass
class Output:
    """What a program wrote to one stream. `bytes` counts what it wrote, `text` may be less."""

    text: str = ""
    bytes: int = 0
    truncated: bool = False
    lossy: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass
class RemoteException:
    """What the program says it raised."""

    type: str = ""
    message: str = ""
    traceback: str = ""


@dataclass
class Usage:
    cpu_ms: float = 0
    wall_ms: float = 0
    memory_peak_kb: int = 0
    pids_peak: int = 0
    contended: bool = False
    stopped_us: Optional[float] = None  # of a program that zygo ended: when it ran no more, since its start
    cpu_us: float = 0  # as cpu_ms and wall_ms, which are whole numbers: most jobs take less than a millisecond
    wall_us: float = 0
    reruns: int = 0  # how often it was judged anew, because the machine had been slow
    rerun_cpu_us: float = 0  # CPU time of the runs whose verdicts were not told


@dataclass
class Evidence:
    """What the verdict rests on: nothing of it is the program's own word but `exit`."""

    detail: Dict[str, Any]
    exit: Dict[str, Any]
    usage: Usage
    enforced: List[str]
    level: str


_MOST_SHOWN = 300  # characters


def _clipped(text: str, repr_of: Callable[[str], str] = repr) -> str:
    return repr_of(text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "...")


@dataclass(repr=False)
class Result:
    """How one job ended. True where it is OK."""

    label: str
    by: str
    ok: bool
    id: Optional[str] = None
    tag: Any = None
    value: Any = None
    detail: Dict[str, Any] = field(default_factory=dict)
    exit: Dict[str, Any] = field(default_factory=dict)
    stdout: Output = field(default_factory=Output)
    stderr: Output = field(default_factory=Output)
    exception: Optional[RemoteException] = None
    usage: Usage = field(default_factory=Usage)
    timing_us: Dict[str, float] = field(default_factory=dict)
    determinism: Optional[Dict[str, Any]] = None
    session: Optional[Dict[str, Any]] = None  # of a step: docs/sessions.md
    display: Optional[Dict[str, Any]] = None  # of a step: what shows its value, by MIME type
    tests: Optional[List[Dict[str, Any]]] = None
    summary: Optional[Dict[str, Any]] = None
    outputs: Optional[Dict[str, Any]] = None
    enforced: List[str] = field(default_factory=list)
    level: str = ""
    template: str = ""
    record: Optional[Dict[str, Any]] = None  # of a job with record=True: what `zygo replay` needs
    more: Dict[str, Any] = field(default_factory=dict)  # fields of a later zygo

    def __post_init__(self) -> None:
        self.line = b""  # zygo's own JSON of it, for a job with an id, and under that id

    def __repr__(self) -> str:
        """A line: what is looked at first. `vars(result)` has all."""
        parts = [self.label]
        parts += [f"{name}={value!r}" for name, value in (("id", self.id), ("tag", self.tag), ("value", self.value))
                  if value is not None]
        if self.stdout.text:
            parts.append(f"stdout={_clipped(self.stdout.text)}")
        if not self.ok and self.reason:
            parts.append(f"({self.reason})")
        return f"<zygo.Result {_clipped(' '.join(parts), repr_of=str)}>"

    def __bool__(self) -> bool:
        return self.ok

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.detail, self.exit, self.usage, self.enforced, self.level)

    @property
    def reason(self) -> str:
        """One line that says why it is not OK."""
        text = ""
        if self.exception is not None:
            text = f"{self.exception.type}: {self.exception.message}"
        elif self.detail:
            text = ", ".join(f"{key}={value}" for key, value in self.detail.items() if value is not None)
        elif self.determinism and self.determinism.get("axis"):
            text = f"{self.determinism['axis']} differs at {self.determinism.get('where')}"
        return " ".join(text.split())[:300]

    @property
    def shown(self) -> str:
        """Of a step: what a notebook shows of it. Its output, the value of its last expression, and how it ended where not well."""
        parts = [self.stdout.text, self.stderr.text, (self.display or {}).get("text/plain", "")]
        if not self.ok and self.exception is None:  # a traceback is on stderr
            parts.append(f"{self.label}: {self.reason}")
        return "\n".join(part.rstrip("\n") for part in parts if part)

    def check(self) -> Result:
        """Itself where it is OK; raises what the label says otherwise."""
        if not self.ok:
            raise exception_of(self)
        return self


_FIELDS = frozenset(Result.__dataclass_fields__) - {"more"}
_RECORDS: Dict[str, Any] = {"stdout": Output, "stderr": Output, "usage": Usage, "exception": RemoteException}
_KNOWN = {name: frozenset(kind.__dataclass_fields__) for name, kind in _RECORDS.items()}


def _record(name: str, fields: Any) -> Any:
    known = _KNOWN[name]
    return _RECORDS[name](**{key: value for key, value in fields.items() if key in known})


def result_of(line: bytes, parts: Sequence[bytes] = ()) -> Result:
    """From one line of zygo, and the parts before it. The line is zygo's own; what is in its value, output and exception
    is the program's."""
    fields = json.loads(line)
    named: Dict[str, Any] = {}
    more: Dict[str, Any] = {}
    for name, value in fields.items():
        if name in _RECORDS:
            if value is not None:
                named[name] = _record(name, value)
        elif name in _FIELDS:
            named[name] = value
        else:
            more[name] = value
    result = Result(**named, more=more)
    if result.value is not None and b'"$type"' in line:
        _decode_value(result, parts)
    return result


def _decode_value(result: Result, parts: Sequence[bytes]) -> None:
    try:
        result.value = values.decode(result.value, parts)
    except InvalidResult as error:  # what zygo could say, but a caller should not build
        result.label, result.by, result.ok, result.value = "InvalidResult", "program", False, None
        result.detail = {"reason": str(error), "where": "decoding"}


def failed(label: str, by: str, message: str) -> Result:
    """A result that no job has had."""
    return Result(label=label, by=by, ok=False, detail={"message": message})
