"""Runs the files of tests, each framework its own way, and reports every test by `FILE::CLASS::NAME`."""

from __future__ import annotations

import importlib
import os
import unittest
from typing import Any, Dict, List, Optional, Sequence

from .report import Report, detail_of, label_of


# unittest

class _Result(unittest.TestResult):
    def __init__(self, report: Report, names: Dict[str, str]) -> None:
        super().__init__()
        self._report, self._names = report, names
        self._error: Optional[BaseException] = None
        self._skipped = self._unexpected = False

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self._error, self._skipped, self._unexpected = None, False, False
        self._report.begin()

    def _note(self, error: Any) -> None:
        if self._error is None:
            self._error = error[1]

    def addError(self, test: Any, err: Any) -> None:
        self._note(err)
        if test.id() not in self._names:  # setUpClass and the like: its tests are not run
            self._report.end(test.id(), label_of(err[1], AssertionError), detail_of(err[1]))

    def addFailure(self, test: Any, err: Any) -> None:
        self._note(err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note(err)

    def addSkip(self, test: Any, reason: str) -> None:
        self._skipped = True
        if test.id() not in self._names:
            self._report.end(test.id(), "Skipped", reason)

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._unexpected = True

    def stopTest(self, test: Any) -> None:
        super().stopTest(test)
        name = self._names.get(test.id(), test.id())
        if self._error is not None:
            self._report.end(name, label_of(self._error, AssertionError), detail_of(self._error))
        elif self._unexpected:
            self._report.end(name, "WrongAnswer", "unexpected success")
        else:
            self._report.end(name, "Skipped" if self._skipped else "OK")


def _cases(suite: Any) -> List[Any]:
    return [case for part in suite for case in (_cases(part) if isinstance(part, unittest.TestSuite) else [part])]


def run_unittest(files: Sequence[str], report: Report) -> None:
    names: Dict[str, str] = {}
    suites = []
    for path in files:
        report.begin()
        try:
            module = importlib.import_module(path[:-3].replace("/", "."))
            suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        except BaseException as error:
            report.end(path, label_of(error, AssertionError), detail_of(error))
            continue
        for case in _cases(suite):
            names[case.id()] = "::".join([path, *case.id().rpartition(module.__name__ + ".")[2].split(".")])
        suites.append(suite)
    report.expect(list(names.values()))
    result = _Result(report, names)
    for suite in suites:
        suite.run(result)


# pytest

class _Plugin:
    """Its hooks are called by pytest, by their names."""

    def __init__(self, report: Report, failures: Any) -> None:
        self._report, self._failures = report, failures
        self._raised: Optional[BaseException] = None  # by the phase of a test that has just ended
        self._errors: Dict[str, BaseException] = {}
        self._skipped: Dict[str, str] = {}

    def pytest_collection_finish(self, session: Any) -> None:
        self._report.expect([item.nodeid for item in session.items])

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if getattr(report, "when", "collect") == "collect":
            error = call.excinfo.value
            while type(error).__name__ == "CollectError" and error.__cause__ is not None:
                error = error.__cause__
            self._report.end(node.nodeid, label_of(error, self._failures), detail_of(error))

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self._report.begin()

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        self._raised = call.excinfo.value if call.excinfo is not None else None

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.skipped:
            self._skipped[report.nodeid] = "" if hasattr(report, "wasxfail") else str(report.longrepr[2])
        elif report.failed:
            self._errors.setdefault(report.nodeid, self._raised or AssertionError(str(report.longrepr)))

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        error = self._errors.get(nodeid)
        if error is not None:
            self._report.end(nodeid, label_of(error, self._failures), detail_of(error))
        elif self._skipped.get(nodeid):
            self._report.end(nodeid, "Skipped", self._skipped[nodeid])
        else:  # also where it failed as it was expected to
            self._report.end(nodeid)


def run_pytest(files: Sequence[str], report: Report) -> None:
    import pytest

    # Plugins of whatever is installed beside it ask the program for what they look for.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    pytest.main(["-p", "no:cacheprovider", "-p", "no:faulthandler", "-qq", "--tb=no", "--no-summary", "--rootdir=.",
                 "--capture=no", "--", *files], plugins=[_Plugin(report, (AssertionError, pytest.fail.Exception))])


RUNNERS = {"pytest": run_pytest, "unittest": run_unittest}
