"""Functions as jobs: pickles go in, typed values come out."""

from __future__ import annotations

import base64
import collections
import contextlib
import json
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, Mapping, Optional, Sequence, Tuple

from . import bundle, pickles, shaped
from .errors import InvalidResult, exception_of
from .result import Result
from .transport.base import ResultFuture
from .transport.stream import LEAST_PART

if TYPE_CHECKING:
    AnyFuture = Future[Any]
else:
    AnyFuture = Future

Call = Tuple[Callable[..., Any], Tuple[Any, ...], Mapping[str, Any]]
Convert = Callable[[Result], Any]

# A function of the caller's own may take its time; a pool's limits can say otherwise.
DAY_MS = 86_400_000
LIMITS = {"wall_ms": DAY_MS, "cpu_ms": DAY_MS, "memory_mb": 2048, "value_kb": 65536, "disk_mb": 1024}
MOST_VALUE_KB = 1 << 20


def with_room_for_value(limits: Mapping[str, int]) -> Dict[str, int]:
    """A value may be as long as the memory that its function has: that is counted there, too."""
    memory = limits["memory_mb"]
    if type(memory) is not int:  # the runtime says what is wrong with it
        return dict(limits)
    return {**limits, "value_kb": max(LIMITS["value_kb"], min(memory << 10, MOST_VALUE_KB))}

_INTO_TEMPLATE = "from zygo_setup import call\n"


_NUMPY_HABIT = "# numpy\n"  # zygo prepares the pages that jobs touch whose source has the word
_LOOKED_AT = 4096  # bytes of a pickle: its names come early, or it is long enough to pay for itself


def program(template_has_setup: bool) -> str:
    """What runs the function. A service's template may have the setup or not; then it comes with the job."""
    if template_has_setup:
        return _INTO_TEMPLATE
    return f"try:\n    {_INTO_TEMPLATE}except ImportError:\n    exec({bundle.inside_source()!r})\n"


def uses_numpy(pickled: Sequence[Tuple[bytes, bytes]]) -> bool:
    return any(word in data[:_LOOKED_AT] for pair in pickled for data in pair for word in (b"numpy", b"pandas"))


class Line:
    """The lines of jobs that differ in their calls only."""

    def __init__(self, fields: Mapping[str, Any], source: str) -> None:
        head = {name: value for name, value in fields.items() if name not in ("id", "inputs", "calls", "func", "mode")}
        head.update(mode="call", func="call")
        self._head, self._numpy_head = (
            json.dumps({**head, "source": text}, separators=(",", ":")).encode()[:-1] + b',"calls":['
            for text in (source, _NUMPY_HABIT + source))

    def of(self, calls: Sequence[Tuple[bytes, bytes]], trust: bool, takes_parts: Callable[[], bool]
           ) -> Tuple[bytes, List[bytes]]:
        """The line, and the parts that go before it. A function that several calls have is sent with each."""
        version = b'[%d,%d]' % sys.version_info[:2]
        tail = b'],"kwargs":{"trust":%b}}' % (b"true" if trust else b"false")
        parts: List[bytes] = []

        def form(data: bytes) -> bytes:
            if len(data) >= LEAST_PART and takes_parts():
                parts.append(data)
                return b'{"$type":"bytes","part":%d}' % (len(parts) - 1)
            return b'{"$type":"bytes","data":"%b"}' % base64.b64encode(data)

        line = (self._numpy_head if uses_numpy(calls) else self._head) + b",".join(
            b'{"args":[%b,%b,%b%b' % (version, form(function), form(arguments), tail)
            for function, arguments in calls) + b"]}"
        return line, parts


def value_of(item: Any, types: shaped.Types, trust: bool) -> Any:
    """One item of a result's value. It is the program's word: nothing of it is executed, unless it is trusted."""
    if type(item) is not tuple or len(item) != 2 or type(item[0]) is not int:
        raise InvalidResult("the value is not what `call` returns: the program has put something else in its place")
    kind, value = item
    if kind == 0:
        return value
    if kind == 1:
        return shaped.decode(value, types)
    if kind == 2 and trust and type(value) is bytes:
        return pickles.load_trusted(value)
    raise InvalidResult("the value is of no known kind")


def _with_hint(error: Exception) -> Exception:
    if isinstance(error, InvalidResult) and "larger than" in str(error):
        error.args = (f"{error}; limits.value_kb is that limit",)
    elif isinstance(error, InvalidResult):
        error.args = (f"{error}; trust_results=True lets any value pass, and is for code that you would run yourself",)
    return error


def convert(types: shaped.Types, trust: bool, many: bool) -> Convert:
    def values(result: Result) -> Any:
        if not result.ok:
            raise _with_hint(exception_of(result))
        try:
            found = [value_of(item, types, trust) for item in result.value]
            return found if many else found[0]
        except InvalidResult as error:
            error.result = result
            raise

    return values


def repeat(result: Result) -> None:
    """What a function has printed, here, as the processes of multiprocessing have it. Never an error."""
    for text, stream in ((result.stdout.text, sys.stdout), (result.stderr.text, sys.stderr)):
        if text and stream is not None:
            with contextlib.suppress(OSError, ValueError):  # closed, or not of its characters
                stream.write(text)
                stream.flush()


class ValueFuture(AnyFuture):
    """The value of a job that may not have been sent yet. `job`, once it is done: how the job ended, with what it
    printed and used. `echo`: what it printed is printed here, too.
    """

    def __init__(self, send: Callable[[], ResultFuture], into: Convert, echo: bool = False) -> None:
        super().__init__()
        self.job: Optional[Result] = None
        self._send, self._into, self._echo = send, into, echo
        self._inner: Optional[ResultFuture] = None
        self._begun = threading.Lock()

    def begin(self) -> bool:
        """Sends the job; False if it was cancelled before."""
        with self._begun:
            if self.cancelled():
                return False
            self._inner = self._send()
        self._inner.add_done_callback(self._settle)
        return True

    def cancel(self) -> bool:
        with self._begun:
            if self._inner is None:
                return self._withdraw()
        return self._inner.cancel() or self.cancelled()

    def _withdraw(self) -> bool:
        if self.cancelled():
            return True
        return super().cancel() and not self.set_running_or_notify_cancel()

    def running(self) -> bool:
        return self._inner is not None and self._inner.running()

    def get(self, timeout: Optional[float] = None) -> Any:
        """As the results of multiprocessing's pools have it."""
        return self.result(timeout)

    def _settle(self, inner: ResultFuture) -> None:
        if inner.cancelled():
            self._withdraw()
            return
        self.set_running_or_notify_cancel()
        try:
            self.job = inner.result()
            if self._echo:
                repeat(self.job)
            self.set_result(self._into(self.job))
        except BaseException as error:
            self.set_exception(error)


class Lane:
    """Lets so many jobs of one caller be under way at once, in their order; None: as many as there are."""

    def __init__(self, width: Optional[int] = None) -> None:
        if width is not None and width < 1:
            raise ValueError(f"{width} jobs at once: there must be one at least")
        self._width = width
        self._lock = threading.Lock()
        self._waiting: Deque[ValueFuture] = collections.deque()
        self._under_way = 0

    def add(self, future: ValueFuture) -> ValueFuture:
        if self._width is None:
            future.begin()
            return future
        self._waiting.append(future)
        self._advance()
        return future

    def _advance(self) -> None:
        assert self._width
        while True:
            with self._lock:
                if self._under_way >= self._width or not self._waiting:
                    return
                future = self._waiting.popleft()
                self._under_way += 1
            try:
                begun = future.begin()
            except BaseException as error:
                begun = False
                if not future.done():
                    future.set_exception(error)
            if begun:
                future.add_done_callback(self._one_less)
            else:
                self._less()

    def _less(self) -> None:
        with self._lock:
            self._under_way -= 1

    def _one_less(self, _: AnyFuture) -> None:
        self._less()
        self._advance()


class Pickler:
    """Pickles each function once, for as long as it lives: for one map, or one loop."""

    def __init__(self, packed: Sequence[str]) -> None:
        self._packed = packed
        self._functions: Dict[int, Tuple[Any, bytes]] = {}

    def __call__(self, call: Call) -> Tuple[bytes, bytes]:
        function, positional, named = call
        known = self._functions.get(id(function))
        if known is None:
            known = self._functions[id(function)] = (function, pickles.dump_function(function, self._packed))
        return known[1], pickles.dump_arguments(tuple(positional), dict(named), self._packed)

    def all(self, calls: Sequence[Call]) -> List[Tuple[bytes, bytes]]:
        return [self(call) for call in calls]
