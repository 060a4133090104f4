"""What every way to a runtime does: takes lines, and settles a future with the result of each. Thread-safe."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import weakref
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any, Callable, Dict, Hashable, List, Mapping, NamedTuple, Optional, Sequence, Set

from ..result import Result, failed, result_of
from .stream import MOST_PART_BYTES, Part, announcement, in_one_line

if TYPE_CHECKING:
    ResultFuture = Future[Result]
else:
    ResultFuture = Future

log = logging.getLogger("zygo")

_ID_STARTS = len(b'{"id":"')
_MOST_LINE_MIB = 64
_MOST_LINE_BYTES = (_MOST_LINE_MIB << 20) - 100


class JobFuture(ResultFuture):
    """Of a job. It can be cancelled until its result is there: what a runtime has of it by then is taken back. So it
    stays pending, as the standard library calls it, while it runs.
    """

    def __init__(self) -> None:
        super().__init__()
        self._order = threading.Lock()
        self._take_back: Optional[Callable[[], None]] = None
        self._is_over = False

    def sent(self, take_back: Callable[[], None]) -> bool:
        """A runtime is about to be given it; False if it was cancelled. `take_back` may be called even then."""
        with self._order:
            self._take_back = take_back
        return not self.cancelled()

    def running(self) -> bool:
        return self._take_back is not None and not self.done()

    def cancel(self) -> bool:
        if not super().cancel():
            return False
        with self._order:
            is_first, self._is_over = not self._is_over, True
            take_back = self._take_back
        if is_first:
            self.set_running_or_notify_cancel()  # who waits for it is told
            if take_back is not None:
                take_back()
        return True


class Ticket(NamedTuple):
    """One job under way. `body` is its line without the opening brace, an id, and the newline; `parts` go before it."""

    body: bytes
    future: JobFuture
    id: Optional[str]  # the caller's own
    parts: Sequence[Part] = ()

    def size(self) -> int:
        """In bytes, of what is sent of it."""
        return len(self.body) + sum(map(len, self.parts))


def body_of(line: bytes) -> bytes:
    return line[1:] if line != b"{}" else b"}"


def with_id(name: bytes, ticket: Ticket) -> List[bytes]:
    """All that is sent of it: the whole line, with the newline, behind its parts."""
    line = b'{"id":"%b"%b%b\n' % (name, b"" if ticket.body == b"}" else b",", ticket.body)
    return [announcement(ticket.parts), *ticket.parts, line] if ticket.parts else [line]


def id_of(line: bytes) -> bytes:
    """Of a result; every one of zygo's begins with its id."""
    return line[_ID_STARTS:line.find(b'"', _ID_STARTS)]


def is_too_long(ticket: Ticket) -> bool:
    """Such a line could not even be given its id: it is settled here."""
    if len(ticket.body) >= _MOST_LINE_BYTES:
        settle(ticket, failed("BadJob", "caller", f"longer than {_MOST_LINE_MIB} MiB"))
        return True
    size = sum(map(len, ticket.parts))
    if size > MOST_PART_BYTES:
        settle(ticket, failed("BadJob", "caller", f"bytes and arrays of {size >> 20} MiB: more than "
                              f"{MOST_PART_BYTES >> 20} MiB cannot be sent with one job"))
        return True
    return False


def settle(ticket: Ticket, result: Result) -> None:
    with contextlib.suppress(InvalidStateError):  # it was cancelled meanwhile
        ticket.future.set_result(result)


def settle_line(ticket: Ticket, line: bytes, parts: Sequence[Part] = ()) -> None:
    settle(ticket, result_of_line(line, ticket.id, parts))


def result_of_line(line: bytes, id: Optional[str], parts: Sequence[Part] = ()) -> Result:
    """Under the id that the caller has given, if there is one."""
    try:
        result = result_of(line, parts)
    except Exception as error:  # what this interpreter refuses to read, such as integers longer than its own limit
        message = f"{type(error).__name__}: {error}"[:300]
        result = Result("InvalidResult", "program", False, detail={"reason": message, "where": "decoding"})
    if id is not None:
        result.id = id
        line = in_one_line(line, parts)
        result.line = b'{"id":%b%b' % (json.dumps(id).encode(), line[line.find(b'"', _ID_STARTS) + 1:])
    return result


def fail(ticket: Ticket, error: Exception) -> None:
    with contextlib.suppress(InvalidStateError):
        ticket.future.set_exception(error)


class SessionWay:
    """How the steps of one session go to a runtime. `submit` never blocks; a node of None is the beginning."""

    def submit(self, node: Optional[str], step: Dict[str, Any]) -> ResultFuture:
        raise NotImplementedError

    def submit_all(self, node: Optional[str], steps: List[Dict[str, Any]], keep: Any, score: Any) -> List[ResultFuture]:
        """Each from this node, side by side."""
        raise NotImplementedError

    def note(self, step: Dict[str, Any], result: Result) -> None:
        """A step has ended so."""

    def log(self, node: Optional[str]) -> List[Dict[str, Any]]:
        raise NotImplementedError

    def tree(self) -> List[Dict[str, Any]]:
        raise NotImplementedError

    def close(self) -> None:
        """No step is taken after it."""
        raise NotImplementedError


class Transport:
    """`submit` never blocks: what the runtime has no room for waits here. A child of fork has nothing of its parent's
    jobs and streams: its first job opens some of its own."""

    def __init__(self) -> None:
        self.agreed: Set[Hashable] = set()  # shapes of jobs that it has nothing against
        _all.add(self)

    @property
    def workers(self) -> int:
        """How many jobs run at once."""
        raise NotImplementedError

    def submit(self, line: bytes, id: Optional[str] = None, parts: Sequence[Part] = ()) -> ResultFuture:
        """One job without an id, as `job.encode` writes it; `parts` only where `takes_parts()`."""
        raise NotImplementedError

    def takes_parts(self) -> bool:
        """Whether bytes can travel beside a job's line."""
        return False

    def refusal(self, line: bytes, template: Optional[str]) -> Optional[str]:
        """What the runtime has against the job of this line, which has no source; None: nothing. Waits for its answer,
        and for no other job; NoRuntime, RuntimeLost: there is none."""
        return None

    def put_blob(self, data: bytes) -> Optional[str]:
        """Keeps bytes that jobs then name; None where this way has no need of it."""
        return None

    def session(self, below: Mapping[str, Any], fields: Mapping[str, Any]) -> Optional[SessionWay]:
        """A session whose steps have these fields, the latter first; None: its steps are jobs as others."""
        return None

    def close(self, wait: bool = True) -> None:
        """Ends it. With `wait`, after every job that was submitted; without, those fail. A later job begins anew."""
        raise NotImplementedError

    def forget(self) -> None:
        """In a child of fork: gives up everything that is the parent's, without ending it."""
        raise NotImplementedError


_all: weakref.WeakSet[Any] = weakref.WeakSet()
_forks = 0


def forks() -> int:
    """How many children this process has forked so far, by Python."""
    return _forks


def _count_fork() -> None:
    global _forks
    _forks += 1


def _after_fork() -> None:
    for transport in list(_all):
        transport.forget()


os.register_at_fork(before=_count_fork, after_in_child=_after_fork)
