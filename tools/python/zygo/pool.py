"""The pool: programs and functions in, results and values out."""

from __future__ import annotations

import collections
import importlib.util
import os
import queue
import sys
import threading
import time
from types import TracebackType
from typing import (Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type,
                    TypeVar)

from . import calls, checks, job, standing
from .errors import RuntimeLost, ZygoError
from .progress import tracked
from .result import Result
from .session import Session
from .standing import PRELOADS
from .transport.base import ResultFuture, Transport

T = TypeVar("T")

_SECONDS_UNASKED = 5.0  # of a service that could not be asked: jobs must not wait for that one by one
_AHEAD_PER_WORKER = 32  # jobs that a map has under way: enough to keep the runtime busy, and bounded


class Pool:
    """Runs programs, each in a fresh sandbox.

    template    what programs run on; python-numpy, or python where this interpreter has no numpy
    workers     jobs that run at once; two per core
    limits      of every job (docs/jobs.md); a job's own come first
    url         of a service, `http://HOST:PORT` or `unix:PATH`; none: an embedded runtime
    python      the embedded runtime's interpreter; this one, for functions travel as its bytecode
    preload     modules that the template imports once
    python_path folders whose modules programs can import; packed once
    context_func  run once, when the template starts; functions reach what it returned by `zygo.context()`
    require     the isolation to insist on (`full,cgroup.memory`), or to be content with (`contained`)
    defaults    other fields of every job
    types       classes of your own that values of functions are put into again
    trust_results  functions' values come back as pickles: only for code that you would run yourself
    echo        False: what functions print stays in their futures' `job`, and is not printed here
    standing    False: a runtime of its own, ended by `close`; else one shared by all pools with these options

    A wrong template, limit or field raises here (BadJob, which is a ValueError), and a runtime that cannot work
    (NoRuntime). Where a service cannot be reached its first job says so.

    Thread-safe; safe over fork. Callbacks of futures run on a thread of the pool and must not wait for other jobs.
    """

    def __init__(self, template: Optional[str] = None, workers: Optional[int] = None,
                 limits: Optional[Mapping[str, int]] = None, url: Optional[str] = None, *,
                 token: Optional[str] = None, binary: Optional[str] = None, python: Optional[str] = None,
                 preload: Sequence[str] = (), python_path: Sequence[str] = (),
                 context_func: Optional[Callable[[], Any]] = None, require: Optional[str] = None,
                 defaults: Optional[Mapping[str, Any]] = None, types: Sequence[type] = (), trust_results: bool = False,
                 echo: bool = True, standing: bool = True) -> None:
        if url and (preload or python_path or context_func or workers or python or require):
            raise ZygoError("with a url, what the runtime is made of is said to `zygo serve`, not here")
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers}: there must be one at least")
        if template is None:
            template = "python-numpy" if url or python or importlib.util.find_spec("numpy") else "python"
        self.template = template
        self._own_template = bool(preload or python_path or context_func)
        self._options = _options(template, workers, url, token, binary, python, tuple(preload), tuple(python_path),
                                 context_func, require)
        self._below: Dict[str, Any] = dict(defaults or {})
        if limits:
            self._below["limits"] = {**self._below.get("limits", {}), **limits}
        self._types = {kind.__name__: kind for kind in types}
        self._trust = trust_results
        self._echo = echo
        self._standing = standing
        self._mine: Optional[Transport] = None
        self._key: Optional[Tuple[Any, ...]] = None
        self._closed = False
        self._not_before = 0.0  # by the monotonic clock, its service is not asked about fields
        said = require or python or self._below or self.template not in PRELOADS
        self._is_checked = not said or is_inside() or checks.check_when_reachable(self.transport, self._common())

    def __repr__(self) -> str:
        where = self._options.url or ("embedded" if self._standing else "a runtime of its own")
        return f"<zygo.Pool template={self.template!r} ({where}){' closed' if self._closed else ''}>"

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close(wait=kind is None)

    def close(self, wait: bool = True) -> None:
        """Takes no more jobs. A runtime of its own is ended; a standing one stays for the next pool."""
        self._closed = True
        mine, self._mine = self._mine, None
        if mine is not None and not self._standing:
            mine.close(wait)

    @property
    def transport(self) -> Transport:
        if self._closed:
            raise ZygoError("the pool is closed")
        if self._standing:
            if self._key is None:
                self._key = self._options.key()
            return standing.obtain(self._options, self._key)
        if self._mine is None:
            self._mine = standing.make(self._options)
        return self._mine

    @property
    def workers(self) -> int:
        return 1 if is_inside() else self.transport.workers

    def warm(self) -> Pool:
        """Starts the template now, so that the first job does not wait for it. Raises what keeps it from starting."""
        source = calls.program(True) if self._own_template else "pass"
        self.run(source).check()
        return self

    @property
    def has_this_python(self) -> bool:
        """Programs run on the interpreter of this process, so that it can compile for them."""
        return not self._options.url and self._options.python == (sys.executable or None)

    # Programs

    def submit(self, source: job.AnyJob, func: Optional[str] = None, inputs: job.Inputs = None,
               **fields: Any) -> ResultFuture:
        """One job: its source, or a whole `Job` or dict; `fields` are those of docs/jobs.md. An unknown field, a wrong
        type, limit or template raises BadJob; what is wrong with the data of a job is its result's label."""
        if fields or not isinstance(source, str) or not self._is_checked:
            own = source if isinstance(source, Mapping) else source.to_fields() if isinstance(source, job.Job) else {}
            self.check_early(job.fields_of(fields, own) if fields else own)
        return self._submit(source, func, inputs, fields)

    def _submit(self, source: job.AnyJob, func: Optional[str] = None, inputs: job.Inputs = None,
                fields: Optional[Mapping[str, Any]] = None) -> ResultFuture:
        if is_inside():
            raise ZygoError("there is no sandbox within a sandbox: functions can be called here, programs not run")
        below = {"template": self.template + standing.FUNCTIONS if self._own_template else self.template, **self._below}
        own = job.fields_of(source, below)
        if func is not None:
            own["func"] = func
        if inputs is not None:
            own["inputs"] = inputs
        if fields:
            own = job.fields_of(fields, own)
        return self.transport.submit(job.encode(own), own.get("id"))

    def _common(self) -> Dict[str, Any]:
        return {"template": self.template, **self._below}

    def check(self, fields: Mapping[str, Any]) -> None:
        """Raises BadJob where the runtime would refuse any job that has these fields, such as limits that there are not.
        It is asked once for fields that are alike. What is in sources, inputs, tests and files is not looked at."""
        if is_inside():
            return
        if not self._is_checked:
            checks.check(self.transport, self._common())
            self._is_checked = True
        checks.check(self.transport, fields)

    def check_early(self, fields: Mapping[str, Any]) -> None:
        """The same, of what jobs will have. A service that cannot be asked now is left to them: they wait for it, or are
        lost. It is asked again some seconds later."""
        if time.monotonic() < self._not_before:
            return
        try:
            self.check(fields)
        except RuntimeLost:
            self._not_before = time.monotonic() + _SECONDS_UNASKED

    def _submit_all(self, sources: Iterable[job.AnyJob]) -> Iterator[ResultFuture]:
        """The first stands for all that are alike: a mistake in the code that made them raises. Later ones may be rows of
        somebody's data, and one that is malformed fails alone."""
        for number, source in enumerate(sources):
            yield self._submit(source) if number else self.submit(source)

    def run(self, source: job.AnyJob, func: Optional[str] = None, inputs: job.Inputs = None,
            **fields: Any) -> Result:
        return checks.told(ended(self.submit(source, func, inputs, **fields)))

    def session(self, **fields: Any) -> Session:
        """Steps that keep their variables; `fields` are those of docs/jobs.md, for every step."""
        self.check_early(fields)
        return Session(self, fields)

    def map(self, jobs: Iterable[job.AnyJob], progress: bool = False) -> List[Result]:
        """Results in the order of the jobs. `progress`: shown by tqdm, where that is installed.

        Where the first job is malformed, BadJob is raised; a later one that is has a result with that label."""
        return list(self.imap(jobs, progress))

    def imap(self, jobs: Iterable[job.AnyJob], progress: bool = False) -> Iterator[Result]:
        """The same, each as soon as those before it are there. Jobs are taken from their iterator little by little."""
        return tracked(checks.all_told(in_order(self._submit_all(jobs), self._ahead())), jobs, progress)

    def imap_unordered(self, jobs: Iterable[job.AnyJob], progress: bool = False) -> Iterator[Result]:
        """Results as they come; `tag` or `id` says whose."""
        return tracked(checks.all_told(as_they_come(self._submit_all(jobs), self._ahead())), jobs, progress)

    def _ahead(self) -> int:
        return _AHEAD_PER_WORKER * self.workers

    # Functions

    def call(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """The function's value, from a sandbox; raises what it raised."""
        value: T = ended(self.submit_call(function, args, kwargs))
        return value

    def submit_call(self, function: Callable[..., Any], args: Tuple[Any, ...] = (),
                    kwargs: Optional[Mapping[str, Any]] = None, **fields: Any) -> calls.ValueFuture:
        return self.caller(**fields).submit([(function, args, kwargs or {})], many=False)

    def caller(self, lane: Optional[calls.Lane] = None, trust_results: Optional[bool] = None,
               types: Optional[Sequence[type]] = None, **fields: Any) -> Caller:
        """What sends many calls with the same job fields. BadJob: they are none."""
        self.check_early(fields)
        known = self._types if types is None else {**self._types, **{kind.__name__: kind for kind in types}}
        trust = self._trust if trust_results is None else trust_results
        return Caller(self, lane or calls.Lane(), known, trust, fields)

    def _fields_of_call(self, fields: Mapping[str, Any]) -> Dict[str, Any]:
        name = self.template if self._options.url else self._options.base + standing.FUNCTIONS
        below = {"limits": calls.LIMITS, "template": name}
        asked = job.fields_of(fields, self._below)
        found = job.fields_of(asked, below)
        if not self._options.url and "value_kb" not in asked.get("limits", {}):  # a service has bounds of its own
            found["limits"] = calls.with_room_for_value(found["limits"])
        return found


class Caller:
    """Calls of functions with one set of job fields. Every `submit` is one job, of one call or of several."""

    def __init__(self, pool: Pool, lane: calls.Lane, types: Mapping[str, type], trust: bool,
                 fields: Mapping[str, Any]) -> None:
        self._pool, self._lane, self._types, self._trust = pool, lane, types, trust
        options = pool._options
        self._line = calls.Line(pool._fields_of_call(fields), calls.program(options.url is None))
        self._pickler = calls.Pickler([os.path.abspath(entry) for entry in options.python_path])

    def submit(self, batch: Sequence[calls.Call], many: bool = True, pickler: Optional[calls.Pickler] = None
               ) -> calls.ValueFuture:
        """`many`: the future's value is the list of them, else the only one."""
        if is_inside():
            return _in_place(batch, many)
        pool = self._pool
        line, parts = self._line.of((pickler or self._pickler).all(batch), self._trust,
                                    lambda: pool.transport.takes_parts())
        into = calls.convert(self._types, self._trust, many)
        return self._lane.add(calls.ValueFuture(lambda: pool.transport.submit(line, parts=parts), into, pool._echo))


def is_inside() -> bool:
    """Whether this is a job: then functions are called in place, one after the other, and nothing else is run."""
    return os.environ.get("ZYGO_INSIDE") == "1"


def _in_place(batch: Sequence[calls.Call], many: bool) -> calls.ValueFuture:
    ready: ResultFuture = ResultFuture()

    def values(_: Result) -> Any:
        found = [function(*args, **kwargs) for function, args, kwargs in batch]
        return found if many else found[0]

    ready.set_result(Result("OK", "program", True))
    future = calls.ValueFuture(lambda: ready, values)
    future.begin()
    return future


def _options(template: str, workers: Optional[int], url: Optional[str], token: Optional[str], binary: Optional[str],
             python: Optional[str], preload: Tuple[str, ...], python_path: Tuple[str, ...],
             context_func: Optional[Callable[[], Any]], require: Optional[str]) -> standing.Options:
    if url:
        return standing.Options(url=url, token=token, base=template)
    base = template if template.startswith("python") else "python"  # functions are Python's, whatever programs are
    return standing.Options(binary=binary, workers=workers, python=python or sys.executable or None, require=require,
                            base=base, preload=preload, python_path=tuple(map(os.path.abspath, python_path)),
                            context_func=context_func)


def ended(future: Any) -> Any:
    """What comes of it; who stops waiting (Ctrl-C) takes it back."""
    try:
        return future.result()
    finally:
        future.cancel()


# Futures in order, or as they come, with a bounded number of them under way

def in_order(futures: Iterator[Any], ahead: int) -> Iterator[Any]:
    under_way: Deque[Any] = collections.deque()
    try:
        for future in futures:
            under_way.append(future)
            if len(under_way) >= ahead:
                yield ended(under_way.popleft())
        while under_way:
            yield ended(under_way.popleft())
    finally:
        for future in under_way:
            future.cancel()


def as_they_come(futures: Iterator[Any], ahead: int) -> Iterator[Any]:
    for future in completed(futures, ahead):
        yield future.result()


def completed(futures: Iterator[Any], ahead: int) -> Iterator[Any]:
    """The futures themselves, each when it is done."""
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    under_way: Dict[int, Any] = {}
    more = True
    try:
        while more or under_way:
            while more and len(under_way) < ahead:
                future = next(futures, None)
                if future is None:
                    more = False
                    break
                under_way[id(future)] = future
                future.add_done_callback(done.put)
            if under_way:
                future = done.get()
                del under_way[id(future)]
                yield future
    finally:
        for future in under_way.values():
            future.cancel()


# The pool that is meant where none is named

_default: Optional[Pool] = None
_default_lock = threading.Lock()


def default() -> Pool:
    global _default
    with _default_lock:
        if _default is None or _default._closed:
            _default = Pool()
        return _default


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
