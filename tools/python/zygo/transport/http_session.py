"""Sessions of a service: each step is a request of its own, over a connection that is kept for the next one."""

from __future__ import annotations

import collections
import contextlib
import functools
import http.client
import json
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, Mapping, Optional, Set, Tuple

from .. import job
from ..errors import NoRuntime, RuntimeLost, ZygoError, exception_of
from ..result import Result, failed
from .base import JobFuture, ResultFuture, SessionWay, Ticket, fail, log, result_of_line, settle
from .http import hang_up, message_of, pause_of

if TYPE_CHECKING:
    from .http import Http

_OF_SESSION = ("template", "limits", "policy", "array", "priority", "deadline_ms", "record", "tenant")
_MOST_CONNECTIONS = 32  # steps under way: the others wait here
_MOST_STEPS = 256  # of one request
_TRIES = 3  # of a request whose connection broke: a node does not change, and a step has no effects outside its sandbox
_REFUSED = {400: ("BadJob", "caller"), 404: ("BadJob", "caller"), 410: ("BadJob", "caller"), 507: ("SandboxError", "sandbox")}

Work = Callable[[http.client.HTTPConnection], None]


class Requests:
    """Threads with a connection each, that do one piece of work after another."""

    def __init__(self, make: Callable[[], http.client.HTTPConnection]) -> None:
        self._make = make
        self._changed = threading.Condition()
        self._waiting: Deque[Work] = collections.deque()
        self._connections: List[http.client.HTTPConnection] = []
        self._idle = 0
        self._ending = False

    def submit(self, work: Work) -> None:
        with self._changed:
            self._waiting.append(work)
            if self._idle < len(self._waiting) and len(self._connections) < _MOST_CONNECTIONS:
                self._connections.append(self._make())
                threading.Thread(target=self._serve, args=self._connections[-1:], name="zygo-session", daemon=True).start()
            else:
                self._changed.notify()

    def _serve(self, connection: http.client.HTTPConnection) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while not self._waiting and not self._ending:
                    self._changed.wait()
                self._idle -= 1
                if not self._waiting:
                    self._connections.remove(connection)
                    break
                work = self._waiting.popleft()
            work(connection)
            del work  # it has a session, which ends when nobody has it any more
        connection.close()

    def end(self) -> None:
        """Once nothing waits any more."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def forget(self) -> None:
        """In a child of fork, which has none of the threads."""
        for connection in self._connections:
            connection.close()


class RemoteSession(SessionWay):
    """Begins with its first step. That begins at an empty node, so that all steps can be undone. Ends when nobody has it."""

    def __init__(self, service: Http, below: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        self._service = service
        every = job.fields_of(fields, below)
        self._body = job.encode({name: every[name] for name in _OF_SESSION if name in every})
        self._fields = {name: value for name, value in every.items() if name not in _OF_SESSION}
        self._beginning = threading.Lock()
        self._session = self._root = ""
        self._closed = False

    def submit(self, node: Optional[str], step: job.Fields) -> ResultFuture:
        own = job.fields_of(step, self._fields)
        ticket = Ticket(job.encode(own), JobFuture(), own.get("id"))
        self._send([ticket], functools.partial(self._run, node, ticket))
        return ticket.future

    def submit_all(self, node: Optional[str], steps: List[job.Fields], keep: Any, score: Any) -> List[ResultFuture]:
        if len(steps) > _MOST_STEPS and (score is not None or isinstance(keep, Mapping)):
            raise ValueError(f"{len(steps)} steps: of at most {_MOST_STEPS} the best can be told")
        every = [job.fields_of(step, self._fields) for step in steps]
        tickets = [Ticket(job.encode(own), JobFuture(), own.get("id")) for own in every]
        about = {"keep": keep, **({"score": dict(score)} if score is not None else {})}
        for start in range(0, len(tickets), _MOST_STEPS):
            group = tickets[start:start + _MOST_STEPS]
            self._send(group, functools.partial(self._try, node, group, job.encode(about)))
        return [ticket.future for ticket in tickets]

    def log(self, node: Optional[str]) -> List[Dict[str, Any]]:
        if node is None:
            return []
        steps: List[Dict[str, Any]] = self._ask("GET", f"/v1/nodes/{node}/log")["steps"]
        return steps[1:]  # the first is the empty beginning

    def tree(self) -> List[Dict[str, Any]]:
        if not self._session:
            return []
        nodes: List[Dict[str, Any]] = self._ask("GET", f"/v1/sessions/{self._session}")["nodes"]
        return [{**each, "parent": None if each["parent"] == self._root else each["parent"]}
                for each in nodes if each["node"] != self._root]

    def close(self) -> None:
        with self._beginning:
            self._closed = True
        if self._session and self._forgotten.detach():
            self._service._answer("DELETE", f"/v1/sessions/{self._session}")  # that it is gone already is as good

    def _ask(self, method: str, path: str) -> Dict[str, Any]:
        status, content = self._service._answer(method, path)
        if status != 200:
            raise ZygoError(f"{self._service._url}: {message_of(status, content)}")
        found: Dict[str, Any] = json.loads(content)
        return found

    # On a thread of its own

    def _send(self, tickets: List[Ticket], work: Work) -> None:
        if self._closed:
            raise ZygoError("the session is closed")

        def guarded(connection: http.client.HTTPConnection) -> None:
            def take_back() -> None:  # who leaves cancels the steps of the request
                if _is_left(tickets):
                    hang_up(connection)

            if not any([ticket.future.sent(take_back) for ticket in tickets]):
                return
            try:
                work(connection)
            except ZygoError as error:
                _fail_all(tickets, error)
            except Exception as error:  # not one of those that are expected: say so, and go on
                log.exception("zygo: a step failed")
                _fail_all(tickets, RuntimeLost(f"{self._service._url}: {error}"))

        self._service.requests.submit(guarded)

    def _run(self, node: Optional[str], ticket: Ticket, connection: http.client.HTTPConnection) -> None:
        status, content = self._post(connection, f"/v1/nodes/{node or self._begun(connection)}/run", ticket.body, [ticket])
        if status in _REFUSED:
            return settle(ticket, self._refused(status, content))
        if status != 200:
            raise RuntimeLost(f"{self._service._url}: {message_of(status, content)}")
        self._settle(ticket, content)

    def _try(self, node: Optional[str], tickets: List[Ticket], about: bytes, connection: http.client.HTTPConnection) -> None:
        body = b'{"steps":[%b],%b' % (b",".join(ticket.body for ticket in tickets), about[1:])
        status, content = self._post(connection, f"/v1/nodes/{node or self._begun(connection)}/try", body, tickets)
        if status in _REFUSED:
            for ticket in tickets:
                settle(ticket, self._refused(status, content))
            return
        if status != 200:
            raise RuntimeLost(f"{self._service._url}: {message_of(status, content)}")
        *lines, last = content.splitlines()
        told = json.loads(last)
        if "summary" not in told:  # its nodes could not be written to the disk, and are gone
            raise RuntimeLost(f"{self._service._url}: {message_of(status, last)}")
        kept = {one["node"] for one in told["summary"]["kept"]}
        for line in lines:
            self._settle(tickets[json.loads(line)["index"]], line, kept)

    def _begun(self, connection: http.client.HTTPConnection) -> str:
        """The node of the beginning."""
        with self._beginning:
            if self._closed:
                raise ZygoError("the session is closed")
            if not self._session:
                status, content = self._post(connection, "/v1/sessions", self._body, [])
                if status != 200:
                    said = f"{self._service._url}: {message_of(status, content)}"
                    raise NoRuntime(said) if status in (404, 501) else exception_of(self._refused(status, content)) \
                        if status in _REFUSED else RuntimeLost(said)
                made = json.loads(content)
                self._session, self._root = made["session"], made["node"]
                ending = functools.partial(_end, self._service, f"/v1/sessions/{self._session}")
                self._forgotten = weakref.finalize(self, _end_later, self._service.requests, ending, os.getpid())
                self._forgotten.atexit = False
            return self._root

    def _settle(self, ticket: Ticket, line: bytes, kept: Optional[Set[str]] = None) -> None:
        """`kept`: the nodes that are there when all steps of a request are over. In front of a result are its index, its nodes,
        which its session has, too, and its score."""
        front, _, rest = line.partition(b'"id":')
        result = result_of_line(b'{"id":' + rest, ticket.id)
        about = json.loads(front.rstrip(b", ") + b"}")
        result.more.update({name: about[name] for name in ("score", "why_no_score") if name in about})
        told = result.session
        if told:
            if kept is not None and told["kept"] and told["node"] not in kept:
                told.update(kept=False, node=None, why_not="it is none of those to keep")
            told.update({name: None for name in ("node", "parent") if told[name] == self._root})
        settle(ticket, result)

    def _refused(self, status: int, content: bytes) -> Result:
        label, by = _REFUSED[status]
        return failed(label, by, message_of(status, content).partition(" ")[2])

    def _post(self, connection: http.client.HTTPConnection, path: str, body: bytes, tickets: List[Ticket]) -> Tuple[int, bytes]:
        """Waits for a service that is busy, and tries again where the connection breaks."""
        give_up, broken = time.monotonic() + self._service._patience, 0
        while True:
            try:
                connection.request("POST", path, body, self._service.headers)
                if _is_left(tickets):  # before there was a connection to hang up
                    raise http.client.HTTPException("cancelled")
                assert connection.sock
                connection.sock.settimeout(None)  # a step's own limits bound the wait
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                broken += 1
                refused = isinstance(error, (ConnectionRefusedError, FileNotFoundError))
                if refused or broken >= _TRIES or _is_left(tickets):
                    raise RuntimeLost(f"{self._service._url}: {str(error) or type(error).__name__}") from error
                continue
            if answer.status not in (429, 503):
                return answer.status, content
            pause = pause_of(answer)
            if time.monotonic() + pause > give_up:
                raise RuntimeLost(f"{self._service._url}: busy for more than {self._service._patience:g} s")
            time.sleep(pause)


def _end_later(requests: Requests, ending: Work, pid: int) -> None:
    """Called wherever the last one drops a session, so it waits for nothing. A child of fork ends nothing of its parent's."""
    if os.getpid() == pid:
        requests.submit(ending)


def _end(service: Http, path: str, _: http.client.HTTPConnection) -> None:
    with contextlib.suppress(RuntimeLost):
        service._answer("DELETE", path)


def _is_left(tickets: List[Ticket]) -> bool:
    """Nobody waits for any of them."""
    return bool(tickets) and all(ticket.future.cancelled() for ticket in tickets)


def _fail_all(tickets: List[Ticket], error: Exception) -> None:
    for ticket in tickets:
        fail(ticket, error)
