"""The tests' cell: puts proxies in the place of the program's modules, runs the tests, and ends with the verdict."""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import resource
import select
import signal
import sys
from typing import Any, BinaryIO, Dict, List, Optional, Sequence, Set, Tuple

from .report import Objection, Report, detail_of, label_of
from .session import RemoteModule, Session

_LOOK_AGAIN = 0.2  # seconds
_MOST_DATA = 400 << 20  # below the limit of this cell: a test fails where all others would end with it


# What a framework looks for in a test file, beside `pytest...` and dunder names.
_OF_FRAMEWORKS = frozenset("""load_tests setUpModule tearDownModule setup_module teardown_module setup_function
    teardown_function setup_method teardown_method collect_ignore collect_ignore_glob""".split())


def _is_kept_back(name: str) -> bool:
    """`import *` brings no name by which the program would decide what the tests are, or mean."""
    return name.startswith(("__", "pytest")) or name in _OF_FRAMEWORKS or hasattr(builtins, name)


class _Finder:
    """Imports of the program's modules. `modules`: those by their own names; `aliases`: names for its only one;
    `own_names`: those that `import *` never brings."""

    def __init__(self, session: Session, modules: Sequence[str], aliases: Dict[str, str], own_names: Set[str]) -> None:
        self._session, self._modules, self._aliases, self._own_names = session, frozenset(modules), aliases, own_names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in self._modules and name not in self._aliases:
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(name, loader)

    def create_module(self, spec: Any) -> RemoteModule:
        real = self._aliases.get(spec.name, spec.name)
        try:
            names, public, is_package = self._session.request("import", real)
        except ImportError as error:  # frameworks skip what cannot be imported
            raise type(type(error).__name__, (Exception,), {})(str(error)) from None
        spec.submodule_search_locations = [] if is_package else None
        module = self._session.module(real)
        brought = [str(name) for name in public if name not in self._own_names and not _is_kept_back(str(name))]
        vars(module).update(_zygo_names=frozenset(map(str, names)), __all__=brought)
        return module

    def exec_module(self, module: Any) -> None:
        pass


def _take_streams() -> Tuple[BinaryIO, BinaryIO]:
    """The two ends of the conversation. What the tests print is nobody's, and would count against this cell's limits."""
    questions, answers = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return questions, answers


def _has_ended(answers: BinaryIO) -> bool:
    ended = select.poll()
    ended.register(answers, 0)
    return any(event & select.POLLHUP for _, event in ended.poll(0))


def _set_alarm(report: Report, answers: BinaryIO, wall: float, cpu: float) -> None:
    """A moment before zygo ends this cell, whose tests would then have no labels. As long as the program has not ended,
    zygo gives both more time, because the machine has had no CPU for one of them."""
    def over(number: int, frame: Any) -> None:
        if number == signal.SIGALRM and not _has_ended(answers):
            signal.setitimer(signal.ITIMER_REAL, _LOOK_AGAIN)
            return
        report.fail_rest("TimeoutException", "the tests have taken their time", "(the run)")
        os._exit(report.conclude())

    signal.signal(signal.SIGALRM, over)
    signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_REAL, wall)
    signal.setitimer(signal.ITIMER_PROF, cpu)


def main(strict: bool, wall: float, cpu: float, suite: Optional[Dict[str, Any]] = None,
         assertions: Optional[Dict[str, Any]] = None) -> None:
    """`suite`: the arguments of `plan.make_plan`; or `assertions`, those of `_assert_all`."""
    questions, answers = _take_streams()
    session = Session(questions, answers, strict)
    report = Report(session, strict)
    _set_alarm(report, answers, wall, cpu)
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_DATA, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.getcwd())
    objection = None
    try:
        if assertions is not None:
            _run_assertions(session, report, assertions)
        elif suite is not None:
            _run_suite(session, report, suite)
    except Objection as error:
        objection = str(error)
    except BaseException as error:
        report.end("(the run)", label_of(error, AssertionError), detail_of(error))
    code = 43
    try:
        report.fail_rest("WrongAnswer" if session.broken is None else session.broken, session.why or "the test was not run")
        code = report.conclude(objection)
    finally:
        os._exit(code)


def _run_suite(session: Session, report: Report, suite: Dict[str, Any]) -> None:
    from .frameworks import RUNNERS
    from .plan import make_plan

    plan = make_plan(**suite)
    for name in plan.taken:
        report.end(f"(import of {name})", "WrongAnswer",
                   "a module of the program has the name of one that the tests have already")
    sys.meta_path.insert(0, _Finder(session, plan.modules, plan.aliases, plan.own_names))
    RUNNERS[plan.framework](plan.files, report)


def _run_assertions(session: Session, report: Report, assertions: Dict[str, Any]) -> None:
    """They are one test, which passes where it ends without an exception."""
    report.expect(["tests"])
    report.begin()
    try:
        _assert_all(session, **assertions)
    except BaseException as error:
        report.end("tests", label_of(error, AssertionError), detail_of(error))
    else:
        report.end("tests")


def _assert_all(session: Session, helpers: str, tests: str, names: List[str]) -> None:
    """Test code that has its candidates as names of a script. `helpers` are run before, beside them."""
    scope: Dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(helpers, "helpers.py", "exec"), scope)
    except Exception:
        pass
    session.request("import", "__main__")
    module = session.module("__main__")
    scope.update({name: getattr(module, name) for name in names if hasattr(module, name)})
    exec(compile(tests, "tests.py", "exec"), scope)
