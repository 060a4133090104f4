"""A service: `zygo serve` by TCP or a unix socket. Jobs go as batches of lines over a few connections that are kept,
each with a thread of its own; results are settled as they stream in.
"""

from __future__ import annotations

import collections
import functools
import hashlib
import http.client
import itertools
import json
import os
import socket
import threading
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Deque, Dict, List, Mapping, Optional, Sequence, Tuple

from ..checks import refused_by
from ..errors import NoRuntime, RuntimeLost
from ..result import failed
from .base import (JobFuture, SessionWay, Ticket, Transport, body_of, fail, id_of, is_too_long, log, settle, settle_line,
                   with_id)
from .stream import Answers, HELLO, Part

if TYPE_CHECKING:
    from .http_session import Requests

_CONNECTIONS = 8
_GROUP_JOBS, _GROUP_BYTES = 64, 16 << 20  # of one batch
_TRIES = 3  # of a job whose connection broke: programs have no effects outside their sandbox
_CONNECT_SECONDS = 10.0
_AROUND = 4096  # bytes of a body beside a job's own
_LONGEST_WAIT = 30.0  # between two tries of a busy service


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_CONNECT_SECONDS)
        self.sock.connect(self._path)


class _Busy(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


def _parse(url: str) -> Any:
    """What makes a connection to the address: `unix:PATH`, `http://HOST:PORT`, `http+unix://%2Fpath`."""
    if url.startswith("unix:"):
        path = url[len("unix:"):]
        return lambda: _UnixConnection(path)
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "http+unix":
        path = urllib.parse.unquote(parts.netloc or parts.path)
        return lambda: _UnixConnection(path)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NoRuntime(f"url {url!r}: write http://HOST:PORT, https://HOST or unix:PATH")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    host, port = parts.hostname, parts.port
    return lambda: kind(host, port, timeout=_CONNECT_SECONDS)


class Http(Transport):
    def __init__(self, url: str, token: Optional[str] = None, patience: float = 300) -> None:
        """`patience`: seconds that a job may wait for a service that says it is busy."""
        super().__init__()
        self._url, self._make, self._patience = url, _parse(url), patience
        token = token or os.environ.get("ZYGO_TOKEN")
        self.headers = {"Content-Type": "application/x-ndjson"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self._info: Optional[Dict[str, Any]] = None
        self._blobs: Dict[str, str] = {}
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._changed = threading.Condition()
        self._waiting: Deque[Ticket] = collections.deque()
        self._tries: Dict[int, int] = {}  # by id() of a ticket under way
        self._under_way = self._idle = self._threads = 0
        self._numbers = itertools.count()
        self._connections: List[http.client.HTTPConnection] = []
        self._groups: Dict[http.client.HTTPConnection, Dict[bytes, Ticket]] = {}
        self._ending = False
        self._requests: Optional[Requests] = None

    # Sessions

    def session(self, below: Mapping[str, Any], fields: Mapping[str, Any]) -> SessionWay:
        from .http_session import RemoteSession

        return RemoteSession(self, below, fields)

    @property
    def requests(self) -> Requests:
        """Of sessions."""
        from .http_session import Requests

        with self._changed:
            if self._requests is None:
                self._requests = Requests(self._make)
            return self._requests

    # Requests beside the jobs

    def _ask(self, method: str, path: str, body: Optional[bytes] = None) -> bytes:
        status, content = self._answer(method, path, body)
        if status >= 300:
            raise RuntimeLost(f"{self._url}{path}: {message_of(status, content)}")
        return content

    def _answer(self, method: str, path: str, body: Optional[bytes] = None) -> Tuple[int, bytes]:
        connection = self._make()
        try:
            connection.request(method, path, body, self.headers)
            answer = connection.getresponse()
            content: bytes = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise RuntimeLost(f"{self._url}: {error or type(error).__name__}") from error
        finally:
            connection.close()
        return answer.status, content

    def refusal(self, line: bytes, template: Optional[str]) -> Optional[str]:
        """A token that may not ask for templates has to learn of a wrong one from its jobs."""
        status, content = self._answer("POST", "/v1/jobs", line)
        if status != 400:
            raise RuntimeLost(f"{self._url}: {message_of(status, content)}")
        message = refused_by(json.loads(content)["error"])
        if message is not None or template is None:
            return message
        known = self._templates()
        if known is None or template in known:
            return None
        return f"template: {json.dumps(template)} is not known; known are {', '.join(known)}"

    def _templates(self) -> Optional[List[str]]:
        """Asked for each time: a service may get more of them. None: it does not say."""
        names: List[str] = []
        for path in ("/v1/templates", "/v1/runtimes"):
            status, content = self._answer("GET", path)
            if status != 200:
                return None
            for one in json.loads(content):
                names += [one["name"], *one.get("aliases", ())]
        return list(dict.fromkeys(names))

    def info(self) -> Dict[str, Any]:
        found: Dict[str, Any] = json.loads(self._ask("GET", "/v1/info"))
        return found

    def pilots(self) -> List[Dict[str, Any]]:
        """Of a router."""
        found: List[Dict[str, Any]] = json.loads(self._ask("GET", "/v1/pilots"))["pilots"]
        return found

    def _known(self) -> Dict[str, Any]:
        """What it says of itself, asked for once."""
        if self._info is None:
            self._info = self.info()
        return self._info

    @property
    def workers(self) -> int:
        return max(1, int(self._known().get("workers", 1)))

    def takes_parts(self) -> bool:
        """Older services do not."""
        try:
            return self._known().get("parts") is True
        except RuntimeLost:  # the jobs will say so
            return False

    def _is_too_large(self, ticket: Ticket) -> bool:
        """By what the service has said, if it was asked. Such a job is settled here."""
        most = (self._info or {}).get("limits", {}).get("body_bytes")
        if not isinstance(most, int) or ticket.size() + _AROUND <= most:
            return False
        settle(ticket, failed("BadJob", "caller", f"{ticket.size()} bytes with all arguments: the service takes bodies of "
                              f"{most} bytes"))
        return True

    def put_blob(self, data: bytes) -> Optional[str]:
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._blobs:
            self._ask("PUT", f"/v1/blobs/sha256:{digest}", data)
            self._blobs[digest] = f"sha256:{digest}"
        return self._blobs[digest]

    # Jobs

    def submit(self, line: bytes, id: Optional[str] = None, parts: Sequence[Part] = ()) -> JobFuture:
        ticket = Ticket(body_of(line), JobFuture(), id, parts)
        if is_too_long(ticket) or self._is_too_large(ticket):
            return ticket.future
        with self._changed:
            self._ending = False
            self._waiting.append(ticket)
            if self._idle == 0 and self._threads < _CONNECTIONS:
                self._threads += 1
                threading.Thread(target=self._serve, args=(self._changed,), name="zygo-http", daemon=True).start()
            else:
                self._changed.notify()
        return ticket.future

    def _take_back(self, connection: http.client.HTTPConnection, name: bytes) -> None:
        """A service takes jobs back from a client that leaves: from where all that is left is cancelled."""
        with self._changed:
            group = self._groups.get(connection, {})
            if name in group and all(ticket.future.cancelled() for ticket in list(group.values())):
                hang_up(connection)

    def _take(self, changed: threading.Condition,
              connection: http.client.HTTPConnection) -> Optional[Dict[bytes, Ticket]]:
        """The next batch; None at the end."""
        with changed:
            while not self._waiting:
                if self._ending:
                    return None
                self._idle += 1
                changed.wait()
                self._idle -= 1
            group: Dict[bytes, Ticket] = {}
            size = 0
            while self._waiting and len(group) < _GROUP_JOBS and (
                    not group or size + self._waiting[0].size() <= _GROUP_BYTES):
                ticket = self._waiting.popleft()
                name = b"%d" % next(self._numbers)
                if ticket.future.sent(functools.partial(self._take_back, connection, name)):
                    group[name] = ticket
                    size += ticket.size()
            self._under_way += len(group)
            self._groups[connection] = group
            return group

    def _serve(self, changed: threading.Condition) -> None:
        connection = self._make()
        with changed:
            self._connections.append(connection)
        while True:
            group = self._take(changed, connection)
            if group is None:
                break
            count = len(group)
            try:
                if group:
                    self._run(connection, group)
            except Exception as error:  # not one of those that are expected: say so, and go on
                log.exception("zygo: a batch failed")
                for ticket in group.values():
                    fail(ticket, RuntimeLost(f"{self._url}: {error}"))
            with changed:
                self._under_way -= count
                changed.notify_all()
        connection.close()
        with changed:
            self._threads -= 1
            self._connections.remove(connection)
            changed.notify_all()

    def _run(self, connection: http.client.HTTPConnection, group: Dict[bytes, Ticket]) -> None:
        give_up = time.monotonic() + self._patience
        while group:
            try:
                self._post(connection, group)
            except _Busy as busy:
                connection.close()
                if self._ending or time.monotonic() + busy.seconds > give_up:
                    return self._fail(group, f"busy for more than {self._patience:g} s")
                time.sleep(busy.seconds)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                _drop_cancelled(group)
                if self._ending:
                    return self._fail(group, "the pool was closed")
                self._try_again(group, error)
            else:
                return

    def _fail(self, group: Dict[bytes, Ticket], why: str) -> None:
        for ticket in group.values():
            fail(ticket, RuntimeLost(f"{self._url}: {why}"))
            self._tries.pop(id(ticket), None)
        group.clear()

    def _try_again(self, group: Dict[bytes, Ticket], error: Exception) -> None:
        """Keeps those that may have another try."""
        for name, ticket in list(group.items()):
            tries = self._tries.get(id(ticket), 0) + 1
            self._tries[id(ticket)] = tries
            if tries >= _TRIES or isinstance(error, (ConnectionRefusedError, FileNotFoundError)):
                self._fail({name: ticket}, str(error) or type(error).__name__)
                del group[name]

    def _post(self, connection: http.client.HTTPConnection, group: Dict[bytes, Ticket]) -> None:
        """Settles what is answered and takes it out of the group."""
        pieces = [piece for name, ticket in group.items() for piece in with_id(name, ticket)]
        if self.takes_parts():
            pieces.insert(0, HELLO)
        body = b"".join(pieces)
        connection.request("POST", "/v1/batches", body, self.headers)
        assert connection.sock
        connection.sock.settimeout(None)  # a job's own limits bound the wait
        answer = connection.getresponse()
        if answer.status in (429, 503):
            answer.read()
            raise _Busy(pause_of(answer))
        if answer.status != 200:
            return self._fail(group, message_of(answer.status, answer.read()))
        answers = Answers()
        while True:
            data = answer.read1(1 << 18)
            if not data:
                break
            for line, parts in answers.feed(data):
                ticket = group.pop(id_of(line), None)
                if ticket is None:
                    log.error("a result that nobody waits for: %.200r", line)
                    continue
                self._tries.pop(id(ticket), None)
                settle_line(ticket, line, parts)
        if group:
            raise http.client.HTTPException(f"{len(group)} jobs were not answered")

    # The end

    def close(self, wait: bool = True) -> None:
        with self._changed:
            while wait and (self._waiting or self._under_way):
                self._changed.wait()
            self._ending = True
            requests, self._requests = self._requests, None
            waiting = list(self._waiting)
            self._waiting.clear()
            for connection in self._connections:
                if not wait:
                    hang_up(connection)
            self._changed.notify_all()
        if requests:
            requests.end()
        for ticket in waiting:
            ticket.future.cancel()

    def forget(self) -> None:
        connections = self._connections
        if self._requests:
            self._requests.forget()
        self._begin_anew()
        for connection in connections:
            connection.close()


def pause_of(answer: http.client.HTTPResponse) -> float:
    """Seconds until a busy service wants to be asked again."""
    return min(_LONGEST_WAIT, max(0.05, float(answer.headers.get("Retry-After") or 1)))


def hang_up(connection: http.client.HTTPConnection) -> None:
    sock = connection.sock
    if sock:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def _drop_cancelled(group: Dict[bytes, Ticket]) -> None:
    for name, ticket in list(group.items()):
        if ticket.future.cancelled():
            del group[name]


def message_of(status: int, content: bytes) -> str:
    try:
        return f"{status} {json.loads(content)['error']['message']}"
    except (ValueError, KeyError, TypeError):
        return f"{status} {content[:200].decode(errors='replace')}"
