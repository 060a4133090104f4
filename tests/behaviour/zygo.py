"""Drives the real binary: $ZYGO_BIN, or build/release/bin/zygo of this checkout.

Every call has a timeout, and only processes that were started here are ever signalled, by pid. $ZYGO_TEST_PATIENCE
stretches the timeouts, and the time limits that jobs have by default, for machines that are many times slower
(tools/vm-test).
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
import unittest
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

Item = TypeVar("Item")
Job = dict[str, Any]
Result = dict[str, Any]

CHECKOUT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("ZYGO_BIN") or CHECKOUT / "build/release/bin/zygo").resolve()
PATIENCE = float(os.environ.get("ZYGO_TEST_PATIENCE") or 1)

LIMIT_LABELS = {"TimeoutException", "MemoryLimitExceeded", "OutputLimitExceeded", "DiskLimitExceeded",
                "ProcessLimitExceeded"}
POLICY_LABELS = {"UnsafeCode", "NonDeterministicCode"}
CALLER_LABELS = {"BadJob", "Cancelled"}
USAGE_FIELDS = {"cpu_ms", "wall_ms", "memory_peak_kb", "pids_peak", "contended"}
STATIONS = {"admit", "lease", "fork", "confine", "run", "collect", "judge"}
EVERYTHING = os.environ.get("ZYGO_TEST_ALL", "0") != "0"


def share_of(items: Sequence[Item], part: int, parts: int) -> list[Item]:
    """Of what takes long in several places alike, each has another share; all of it where ZYGO_TEST_ALL=1."""
    return [*items] if EVERYTHING else [*items[part::parts]]


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: bytes
    err: bytes

    @property
    def stdout(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def stderr(self) -> str:
        return self.err.decode(errors="replace")


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "ZYGO_TEST_CANARY": "host-environment-canary", **extra}


def run_command(command: Sequence[str], stdin: bytes = b"", timeout: float = 60,
                env: Mapping[str, str] | None = None, cwd: str | None = None,
                pass_fds: Sequence[int] = ()) -> Finished:
    ended = subprocess.run(command, input=stdin, capture_output=True, timeout=timeout * PATIENCE,
                           env=env or environment(), cwd=cwd, pass_fds=pass_fds, check=False)
    return Finished(ended.returncode, ended.stdout, ended.stderr)


def run_cli(*arguments: str, **how: Any) -> Finished:
    return run_command([str(BINARY), *arguments], **how)


def start_cli(*arguments: str, **how: Any) -> subprocess.Popen[bytes]:
    """A zygo that the test talks to; end it with `finish`."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([str(BINARY), *arguments], **{"env": environment(), **pipes, **how})


def finish(process: subprocess.Popen[bytes], timeout: float = 20) -> int:
    """Closes the pipes and waits; kills a process that does not end, and then says so."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream and not stream.closed:
            try:
                stream.close()
            except BrokenPipeError:
                pass
    try:
        return process.wait(timeout * PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


class Lines:
    """The lines of a pipe that nobody else reads; each has to come in time."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.pipe = pipe
        self.pending = b""

    def next(self, timeout: float = 20) -> bytes:
        """Without its end; empty at the end of the output."""
        deadline = time.monotonic() + timeout * PATIENCE
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.pipe], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no line within {timeout} s")
            data = os.read(self.pipe.fileno(), 1 << 20)
            if not data:
                return b""
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return line


class Coprocess:
    """A `zygo batch -` that stays: jobs go in and results come out, line by line, while the pipes are open."""

    def __init__(self, *options: str, process: subprocess.Popen[bytes] | None = None) -> None:
        self.process = process or start_cli("batch", "-", *options, bufsize=0)
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.lines = Lines(self.stdout)

    def __enter__(self) -> Coprocess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            finish(self.process)
        self.stdout.close()

    def send(self, data: bytes) -> None:
        """Writes everything; the other side must be reading."""
        view = memoryview(data)
        while view:
            view = view[self.stdin.write(view):]

    def line(self, timeout: float = 20) -> bytes:
        return self.lines.next(timeout)

    def result(self, timeout: float = 20) -> Result:
        return json.loads(self.line(timeout))


def lines_of(jobs: Iterable[Job]) -> bytes:
    return b"".join(json.dumps(patient(job)).encode() + b"\n" for job in jobs)


def patient(job: Job) -> Job:
    """A limit of time that a test states is what it tests; the defaults are for a machine of ordinary speed."""
    if PATIENCE == 1:
        return job
    stretched = {"cpu_ms": int(5000 * PATIENCE), "wall_ms": int(10000 * PATIENCE)}
    return {**job, "limits": {**stretched, **job.get("limits", {})}}


def results_of(output: bytes) -> list[Result]:
    """Strict: every line is one JSON object in valid UTF-8."""
    return [json.loads(line) for line in output.decode("utf-8").split("\n") if line]


def by_id(results: Iterable[Result]) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for result in results:
        if result["id"] in found:
            raise AssertionError(f"two results for {result['id']!r}")
        found[result["id"]] = result
    return found


def run_batch(jobs: Sequence[Job], *options: str, timeout: float = 120, around: Sequence[str] = (), **how: Any) -> dict[str, Result]:
    """One `zygo batch` over well-formed jobs with ids: exactly one result each, exit code 0. `around`: a command that runs it."""
    ended = run_command([*around, str(BINARY), "batch", "-", *options], stdin=lines_of(jobs), timeout=timeout, **how)
    results = by_id(results_of(ended.out))
    wanted = {job["id"] for job in jobs}
    if ended.code != 0 or set(results) != wanted:
        broken = [r for r in results.values() if r["label"] in {"BadJob", "SandboxError"}]
        raise AssertionError(f"zygo batch ended with {ended.code}; missing {sorted(wanted - set(results))[:5]}; "
                             f"{json.dumps(broken[:3])}; stderr: {ended.stderr[-2000:]}")
    return results


def run_job(source: str, *options: str, how: Mapping[str, Any] | None = None, **fields: Any) -> Result:
    """One job alone: `run_job("print(1)", limits={...})`."""
    return run_batch([{"id": "only", "source": source, **fields}], *options, **(how or {}))["only"]


def script_facts(source: str, *options: str, how: Mapping[str, Any] | None = None, **fields: Any) -> Any:
    """The JSON that a script prints; the job must end well."""
    result = run_job(source, *options, how=how, **fields)
    if result["label"] != "OK":
        raise AssertionError(f"the probe ended with {brief(result)}")
    return json.loads(result["stdout"]["text"])


def brief(result: Result) -> str:
    """What a failing test wants to see of a result."""
    shown = {key: result.get(key) for key in ("id", "label", "by", "detail", "exit", "exception", "determinism")}
    shown["stdout"] = result.get("stdout", {}).get("text", "")[:300]
    shown["stderr"] = result.get("stderr", {}).get("text", "")[-600:]
    return json.dumps({key: value for key, value in shown.items() if value})


def by_of(label: str) -> str:
    """Who decides: it follows from the label."""
    if label in LIMIT_LABELS:
        return "limit"
    if label in POLICY_LABELS:
        return "policy"
    if label in CALLER_LABELS:
        return "caller"
    return "sandbox" if label == "SandboxError" else "program"


def shape_faults(result: Result) -> list[str]:
    """What in a result of a job that ran is not as the contract draws it."""
    faults = []
    if result.get("by") != by_of(result["label"]):
        faults.append(f"by is {result.get('by')!r} for {result['label']}")
    if result.get("ok") is not (result["label"] == "OK"):
        faults.append(f"ok is {result.get('ok')!r} for {result['label']}")
    if set(result.get("exit") or {}) != {"code", "signal"}:
        faults.append(f"exit is {result.get('exit')!r}")
    for stream in ("stdout", "stderr"):
        faults += stream_faults(stream, result.get(stream))
    faults += missing("usage", USAGE_FIELDS, result.get("usage"))
    faults += missing("timing_us", STATIONS, result.get("timing_us"))
    if not {"landlock", "seccomp"} & set(result.get("enforced") or []):
        faults.append(f"enforced is {result.get('enforced')!r}")
    if result.get("level") not in {"full", "contained", "minimal"}:
        faults.append(f"level is {result.get('level')!r}")
    if "@sha256:" not in str(result.get("template")):
        faults.append(f"template is {result.get('template')!r}")
    if result["label"] == "TimeoutException" and result["detail"]["measured_ms"] < result["detail"]["limit_ms"]:
        faults.append(f"it is below its limit: {result['detail']}")
    return faults


def stream_faults(name: str, stream: Any) -> list[str]:
    types = {"text": str, "bytes": int, "truncated": bool, "lossy": bool}
    if not isinstance(stream, dict):
        return [f"{name} is {stream!r}"]
    return [f"{name}.{key} is {stream.get(key)!r}" for key, kind in types.items() if type(stream.get(key)) is not kind]


def missing(name: str, wanted: set[str], found: Any) -> list[str]:
    absent = wanted - set(found or {})
    return [f"{name} lacks {sorted(absent)}"] if absent else []


def as_written(loader: unittest.TestLoader, names: Mapping[str, Any]) -> unittest.TestSuite:
    """All test cases of a module, in the order in which they stand there: `names` is its globals()."""
    cases = [each for each in names.values()
             if isinstance(each, type) and issubclass(each, unittest.TestCase) and each.__module__ == names["__name__"]]
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


class ZygoTestCase(unittest.TestCase):
    """Fails clearly, rather than skips, when there is no binary to test."""

    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if not BINARY.is_file():
            raise AssertionError(f"no zygo binary at {BINARY}; build it, or set ZYGO_BIN")

    def folder(self) -> Path:
        """A directory of this test's own."""
        holder = tempfile.TemporaryDirectory(prefix="behaviour-")
        self.addCleanup(holder.cleanup)
        return Path(holder.name)

    def assertLabel(self, result: Result, label: str) -> None:
        self.assertEqual(result["label"], label, brief(result))
