"""Files of tests, of pytest or unittest, against a program that runs in another sandbox."""

from __future__ import annotations

import base64
import json
import os
import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from ..errors import BadJob
from ..pool import Pool
from ..result import Result
from . import pools, trouble
from .suites import jobs
from .suites.plan import FRAMEWORKS

Files = Union[str, "os.PathLike[str]", Mapping[str, Union[str, bytes]]]

_REPORT = "feedback/tests.jsonl"
# A program can bring the tests' cell to these, by what it returns.
_ENDS_OF_TESTS = ("TimeoutException", "MemoryLimitExceeded", "DiskLimitExceeded", "OutputLimitExceeded", "ProcessLimitExceeded")
_NOT_TAKEN = ("__pycache__", ".*")


@dataclass
class TestOutcome:
    """How one test ended. `testimony`: how often which operator of the program's own decided about a plain value."""

    __test__ = False  # pytest, this is none

    name: str
    label: str
    detail: str = ""
    testimony: Dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.label == "OK"


@dataclass
class SuiteResult:
    """`label` is that of the program's limit or breach, else of the first test that failed."""

    label: str
    passed: bool
    tests: List[TestOutcome]
    detail: str
    result: Result

    def __bool__(self) -> bool:
        return self.passed


def run_tests(program: Files, tests: Files, *, framework: str = "auto", timeout: float = 10, memory_mb: int = 512,
              strict: bool = False, pool: Optional[Pool] = None, files: Optional[Files] = None) -> SuiteResult:
    """Runs the tests as they are, in a sandbox beside that of the program, whose modules are proxies there.

    program    its source, a path to its file or to a folder of modules, or a dict of files
    tests      the same of the tests; of several files those that pytest would take
    framework  pytest, unittest, or auto: unittest where all test files are of it
    timeout    seconds of CPU time for the program, in all tests together
    strict     a test fails if an operator of the program's own decides about a plain value
    files      further files for the tests
    """
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework={framework!r}: {', '.join(FRAMEWORKS)}")
    own, given = _files_of(program, "program.py"), {**_files_of(files or {}, ""), **_files_of(tests, "test_program.py")}
    pool = pools.chosen(pool)
    job = jobs.job_of(
        {"suite": {"program": list(own), "given": list(given), "framework": framework}}, timeout, memory_mb, strict,
        program=_as_job_files(own), files=_as_job_files(given), same_python=pool.has_this_python,
        tests_template=pools.tests_template(pool), preloaded=pools.has_harness(pool))
    return outcome_of(trouble.run(pool, job))


def _files_of(what: Files, name: str) -> Dict[str, Union[str, bytes]]:
    if isinstance(what, str):
        return {name: what}
    if isinstance(what, Mapping):
        return dict(what)
    path = Path(what)
    if not path.is_dir():
        return {path.name: path.read_bytes()}
    found = [one for one in sorted(path.rglob("*")) if one.is_file()
             and not any(fnmatch(part, wild) for part in one.relative_to(path).parts for wild in _NOT_TAKEN)]
    for one in found:  # a submission would have files of this host read to it
        if path.resolve() not in one.resolve().parents:
            raise ValueError(f"{one}: a link that leads out of {path}")
    return {one.relative_to(path).as_posix(): one.read_bytes() for one in found}


def _as_job_files(files: Mapping[str, Union[str, bytes]]) -> Dict[str, Any]:
    return {name: {"text": content} if isinstance(content, str) else {"b64": base64.b64encode(content).decode()}
            for name, content in files.items()}


# What came of it

def outcome_of(result: Result) -> SuiteResult:
    """Raises what is no fault of the program or its tests."""
    ran = (result.tests or [{}])[0]
    lines = _lines_of(ran)
    objection = next((line["objection"] for line in lines if "objection" in line), None)
    if objection:
        raise BadJob(objection)
    label, detail = _end_of(result, ran)
    if result.by == "sandbox" or label == "BadJob":
        result.check()
    tests = [TestOutcome(line["name"], line["label"] or label, line["detail"] if line["label"] else detail, line["testimony"])
             for line in lines]
    failed = next((test for test in tests if test.label not in ("OK", "Skipped")), None)
    if result.by == "program" and failed is not None:
        label, detail = failed.label, f"{failed.name}: {failed.detail}"
    elif result.by == "program" and not any(test.ok for test in tests):
        label, detail = "WrongAnswer", "no test was run"
    passed = result.ok and failed is None and any(test.ok for test in tests)
    return SuiteResult("OK" if passed else label, passed, tests, "" if passed else detail, result)


def _lines_of(ran: Mapping[str, Any]) -> List[Dict[str, Any]]:
    report = (ran.get("feedback") or {}).get(_REPORT, {})
    return [json.loads(line) for line in report.get("text", "").splitlines() if line.endswith("}")]


def _end_of(result: Result, ran: Mapping[str, Any]) -> Tuple[str, str]:
    """How the program ended, for the tests that it did not live to see."""
    if result.by == "program" and result.label in ("OK", "WrongAnswer"):
        return "NonZeroExit", f"ended before the tests did, with exit code {(ran.get('exit') or {}).get('code')}"
    tests = re.match(r"interactor: ended as (\w+),", str(result.detail.get("message")))
    if tests and tests[1] in _ENDS_OF_TESTS:
        return tests[1], "of the tests' sandbox"
    reasons = {name: value for name, value in result.detail.items() if name != "test"}
    return result.label, ", ".join(f"{name}={value}" for name, value in reasons.items())
