"""The programs of tests/programs and what each of them expects; the fields are explained in its README."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zygo import CHECKOUT, PATIENCE, Job, Result

FOLDER = CHECKOUT / "tests/programs"
HEADER = "# zygo: "
CRIME = "# <- crime"
FIELDS = {"job", "label", "labels", "label_not", "detail", "exit", "determinism", "stdout_has", "mentions", "exception",
          "stdout", "stderr_is", "stdout_contains", "stderr", "stdout_bytes", "stdout_truncated_at", "value",
          "value_if_ok", "value_absent", "max_result_kb", "memory_peak_below_kb"}


@dataclass(frozen=True)
class Program:
    id: str
    source: str
    expect: dict[str, Any]

    def job(self) -> Job:
        job = {"id": self.id, "source": self.source, "tag": {"file": self.id}, **self.expect.get("job", {})}
        if "TimeoutException" in (self.expect.get("label"), *self.expect.get("labels", ())):
            return job
        # Where time is not what it is about, a limit of time is there for ordinary machines.
        limits = {name: int(value * PATIENCE) if name in {"cpu_ms", "wall_ms"} else value
                  for name, value in job.get("limits", {}).items()}
        return {**job, "limits": {"wall_ms": 60000, **limits}}

    def crime_line(self) -> int | None:
        for number, line in enumerate(self.source.splitlines(), start=1):
            if line.endswith(CRIME):
                return number
        return None


def load(path: Path) -> Program:
    source = path.read_text(encoding="utf-8")
    first, _, _ = source.partition("\n")
    if not first.startswith(HEADER):
        raise ValueError(f"{path}: the first line must begin with {HEADER!r}")
    expect = json.loads(first.removeprefix(HEADER))
    if unknown := set(expect) - FIELDS:
        raise ValueError(f"{path}: unknown fields {sorted(unknown)}")
    return Program(str(path.relative_to(FOLDER).with_suffix("")), source, expect)


def programs(*folders: str) -> list[Program]:
    """All of them, or those of some folders, in a fixed order."""
    return [load(path) for name in folders or ("",) for path in sorted((FOLDER / name).rglob("*.py"))]


def differences(program: Program, result: Result) -> list[str]:
    """Everything in which a result is not what the program's header expects; empty when it is."""
    found = label_faults(program.expect, result)
    for field, check in CHECKS.items():
        if field in program.expect:
            found += [f"{field}: {fault}" for fault in check(program.expect[field], result)]
    found += crime_faults(program, result)
    return [] if found == [CPU_LIMIT_IS_LATE] and is_contended(result) else found


# On a host that kept the job waiting for the CPU, and says so, the limit of wall time can come first.
CPU_LIMIT_IS_LATE = "detail: detail.limit is 'wall', expected 'cpu'"


def is_contended(result: Result) -> bool:
    return bool((result.get("detail") or {}).get("contended"))


def label_faults(expect: dict[str, Any], result: Result) -> list[str]:
    label = result["label"]
    allowed = expect.get("labels") or ([expect["label"]] if "label" in expect else None)
    if allowed is not None and label not in allowed:
        return [f"label is {label}, expected {' or '.join(allowed)}"]
    if label in expect.get("label_not", []):
        return [f"label is {label}, which it must never be"]
    return []


def crime_faults(program: Program, result: Result) -> list[str]:
    line = program.crime_line()
    if line is None:
        return []
    if result["label"] == "UnsafeCode":
        named = (result.get("detail") or {}).get("line")
        return [] if named == line else [f"detail.line is {named!r}, the crime is in line {line}"]
    traceback = (result.get("exception") or {}).get("traceback", "")
    shown = re.search(rf"line {line}\b", traceback)
    return [] if shown else [f"the traceback does not show line {line}: {traceback!r}"]


def contained(expected: Any, actual: Any, path: str = "") -> list[str]:
    """Equal, except that objects may have more keys than expected; 0, 0.0, -0.0 and false all differ."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        absent = [f"{path}.{key} is absent" for key in expected if key not in actual]
        return absent + [fault for key in expected if key in actual
                         for fault in contained(expected[key], actual[key], f"{path}.{key}")]
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return [fault for index, pair in enumerate(zip(expected, actual))
                for fault in contained(*pair, f"{path}[{index}]")]
    return [] if repr(expected) == repr(actual) else [f"{path or 'it'} is {actual!r:.300}, expected {expected!r:.300}"]


def part(name: str) -> Callable[[Any, Result], list[str]]:
    return lambda expected, result: contained(expected, result.get(name) or {}, name)


def check_text(stream: str) -> Callable[[Any, Result], list[str]]:
    return lambda expected, result: contained(expected, result[stream]["text"], stream)


def check_occurs(stream: str) -> Callable[[Any, Result], list[str]]:
    return lambda expected, result: ([] if expected in result[stream]["text"]
                                     else [f"{expected!r} is not in {result[stream]['text']!r:.300}"])


def check_mentions(expected: list[str], result: Result) -> list[str]:
    detail = json.dumps(result.get("detail"), ensure_ascii=False)
    return [f"/{pattern}/ is not in {detail}" for pattern in expected if not re.search(pattern, detail, re.IGNORECASE)]


def check_exception(expected: dict[str, str], result: Result) -> list[str]:
    exception = result.get("exception")
    if not isinstance(exception, dict):
        return ["the result has none"]
    faults = []
    for field, pattern in expected.items():
        match = re.fullmatch if field == "type" else re.search
        if not match(pattern, str(exception.get(field, ""))):
            faults.append(f"{field} is {exception.get(field)!r:.600}, expected /{pattern}/")
    return faults


def check_bytes(expected: int, result: Result) -> list[str]:
    actual = {**result["stdout"], "text": len(result["stdout"]["text"])}
    return contained({"text": expected, "bytes": expected, "truncated": False, "lossy": False}, actual, "stdout")


def check_truncated(limit: int, result: Result) -> list[str]:
    stream = result["stdout"]
    kept = len(stream["text"].encode())
    if stream["truncated"] is not True:
        return ["the output is not marked truncated"]
    return [] if 0 < kept <= limit else [f"{kept} bytes kept of at most {limit}"]


def check_value_if_ok(expected: Any, result: Result) -> list[str]:
    return contained(expected, result.get("value"), "value") if result["label"] == "OK" else []


def check_value_absent(_: bool, result: Result) -> list[str]:
    return [f"the value is {result['value']!r:.300}"] if result.get("value") is not None else []


def check_size(kilobytes: int, result: Result) -> list[str]:
    size = len(json.dumps(result))
    return [] if size <= kilobytes * 1024 else [f"the result has {size} bytes"]


def check_peak(kilobytes: int, result: Result) -> list[str]:
    peak = result["usage"]["memory_peak_kb"]
    return [] if peak < kilobytes else [f"at most {peak} kB were in use"]


CHECKS: dict[str, Callable[[Any, Result], list[str]]] = {
    "detail": part("detail"),
    "exit": part("exit"),
    "determinism": part("determinism"),
    "stdout_has": part("stdout"),
    "mentions": check_mentions,
    "exception": check_exception,
    "stdout": check_text("stdout"),
    "stderr_is": check_text("stderr"),
    "stdout_contains": check_occurs("stdout"),
    "stderr": check_occurs("stderr"),
    "stdout_bytes": check_bytes,
    "stdout_truncated_at": check_truncated,
    "value": lambda expected, result: contained(expected, result.get("value"), "value"),
    "value_if_ok": check_value_if_ok,
    "value_absent": check_value_absent,
    "max_result_kb": check_size,
    "memory_peak_below_kb": check_peak,
}
