"""What every way to a runtime does: takes lines, and settles a future with the result of each. Thread-safe."""

from __future__ import annotations

import json
import logging
import os
import weakref
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from ..result import Result, failed, result_of

if TYPE_CHECKING:
    ResultFuture = Future[Result]
else:
    ResultFuture = Future

log = logging.getLogger("zygo")

_ID_STARTS = len(b'{"id":"')
_MOST_LINE_BYTES = (64 << 20) - 100


class Ticket(NamedTuple):
    """One job under way. `body` is its line without the opening brace, an id, and the newline."""

    body: bytes
    future: ResultFuture
    id: Optional[str]  # the caller's own


def body_of(line: bytes) -> bytes:
    return line[1:] if line != b"{}" else b"}"


def with_id(name: bytes, ticket: Ticket) -> bytes:
    """The whole line, with the newline."""
    return b'{"id":"%b"%b%b\n' % (name, b"" if ticket.body == b"}" else b",", ticket.body)


def id_of(line: bytes) -> bytes:
    """Of a result; every one of zygo's begins with its id."""
    return line[_ID_STARTS:line.find(b'"', _ID_STARTS)]


def is_too_long(ticket: Ticket) -> bool:
    """Such a line could not even be given its id: it is settled here."""
    if len(ticket.body) < _MOST_LINE_BYTES:
        return False
    ticket.future.set_result(failed("BadJob", "caller", f"longer than {_MOST_LINE_BYTES >> 20} MiB"))
    return True


def settle_line(ticket: Ticket, line: bytes) -> None:
    try:
        result = result_of(line)
    except Exception as error:  # what this interpreter refuses to read, such as integers longer than its own limit
        message = f"{type(error).__name__}: {error}"[:300]
        result = Result("InvalidResult", "program", False, detail={"reason": message, "where": "decoding"})
    if ticket.id is not None:
        result.id = ticket.id
        result.line = b'{"id":%b%b' % (json.dumps(ticket.id).encode(), line[line.find(b'"', _ID_STARTS) + 1:])
    ticket.future.set_result(result)


def withdraw(ticket: Ticket) -> None:
    """Of one that was not sent. Who waits for it is told."""
    ticket.future.cancel()
    ticket.future.set_running_or_notify_cancel()


def fail(ticket: Ticket, error: Exception) -> None:
    if not ticket.future.done():
        ticket.future.set_exception(error)


class Transport:
    """`submit` never blocks: what the runtime has no room for waits here, and can still be cancelled. A child of fork
    has nothing of its parent's: its first job starts a runtime, or connections, of its own."""

    def __init__(self) -> None:
        _all.add(self)

    @property
    def workers(self) -> int:
        """How many jobs run at once."""
        raise NotImplementedError

    def submit(self, line: bytes, id: Optional[str] = None) -> ResultFuture:
        """One job without an id, as `job.encode` writes it."""
        raise NotImplementedError

    def put_blob(self, data: bytes) -> Optional[str]:
        """Keeps bytes that jobs then name; None where this way has no need of it."""
        return None

    def close(self, wait: bool = True) -> None:
        """Ends it. With `wait`, after every job that was submitted; without, those fail. A later job begins anew."""
        raise NotImplementedError

    def forget(self) -> None:
        """In a child of fork: gives up everything that is the parent's, without ending it."""
        raise NotImplementedError


_all: weakref.WeakSet[Any] = weakref.WeakSet()


def _after_fork() -> None:
    for transport in list(_all):
        transport.forget()


os.register_at_fork(after_in_child=_after_fork)
